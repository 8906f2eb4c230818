//! A second owner of the deque.

use filch_deque::{Stealer, Worker};

pub fn case(worker: Worker<u32>) -> Stealer<u32> {
    #[cfg(misuse)]
    let _: Worker<u32> = worker.clone(); //~ E0599 no method named `clone` found
    worker.stealer().clone()
}
