//! A task is run by a function.

use filch_engine::Worker;

pub fn case() -> Worker {
    let worker = Worker::new("counts").local(|| 0_u64);
    #[cfg(misuse)]
    let worker = worker.on::<u32, _>(7); //~ E0277 is no function that runs tasks
    #[cfg(not(misuse))]
    let worker = worker.on(|number: &u32, sum: &mut u64| *sum += u64::from(*number));
    worker
}
