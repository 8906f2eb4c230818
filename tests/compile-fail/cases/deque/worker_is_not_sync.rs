//! Two threads that use the owner's end.

use filch_deque::Worker;

pub fn case(worker: &Worker<u32>) {
    std::thread::scope(|scope| {
        let worker = worker;
        #[cfg(misuse)]
        scope.spawn(|| worker.push(1)); //~ E0277 cannot be shared between threads safely
        #[cfg(not(misuse))]
        scope.spawn({
            let stealer = worker.stealer();
            move || stealer.steal()
        });
    });
}
