//! Other threads may read data that a worker owns.

use std::cell::Cell;

use filch_engine::Worker;

pub fn case() -> Worker {
    let worker = Worker::new("owner");
    #[cfg(misuse)]
    let worker = worker.owns(|| Cell::new(1)); //~ E0277 cannot be shared between threads safely
    #[cfg(not(misuse))]
    let worker = worker.local(|| Cell::new(1));
    worker
}
