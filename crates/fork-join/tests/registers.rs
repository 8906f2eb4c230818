//! A process with a pool is registered for heavy fences. Alone in a program of its own, in which
//! nobody else registers.

use std::thread;
use std::time::{Duration, Instant};

use filch_fork_join::Pool;
use filch_sync::asymmetric::{is_available, register};

/// A failure: every job is shared, and a fork takes two exchanges more.
#[test]
fn a_pool_registers_its_process() {
    assert!(!is_available());
    let pool = Pool::new(2).unwrap();
    pool.install(|worker| worker.join(|_| (), |_| ()));
    // In a program with threads it takes some milliseconds, on a thread of its own.
    let end = Instant::now() + Duration::from_secs(10);
    while !is_available() && Instant::now() < end {
        thread::yield_now();
    }
    let is_registered = is_available();
    assert_eq!(is_registered, register(), "it is, where there are such");
}
