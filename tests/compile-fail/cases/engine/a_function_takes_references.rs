//! A function borrows the data of its worker.

use filch_engine::Worker;

pub fn case() -> Worker {
    let worker = Worker::new("counts").local(|| 7_u64);
    #[cfg(misuse)]
    let worker = worker.setup(|sum: u64| drop(sum)); //~ E0277 is no function that a worker can call
    #[cfg(not(misuse))]
    let worker = worker.setup(|sum: &u64| assert_eq!(*sum, 7));
    worker
}
