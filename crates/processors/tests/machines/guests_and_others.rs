//! Guests, and the tasks of others.

use crate::guests::{Waits, idle, own, stopped, task, telling};
use crate::pool::{finish, processors};

/// The caller might hold a lock that those want. A failure: what the task has made runnable runs on
/// the caller's thread, or never.
#[test]
fn it_runs_nothing_else() {
    let (pool, machines) = idle(processors(1));
    let (other, on) = telling(2);
    let made = task(1, move |pool| pool.schedule(other));
    pool.run_awaited(made, &*Waits::new(1));
    assert_ne!(on.recv(), Ok(own()));
    finish(&pool, machines);
}

/// A failure: a thread of the pool is woken for what the task needs.
#[test]
fn it_runs_what_its_task_needs() {
    let (pool, machines) = idle(processors(1).clock(stopped));
    let (other, on) = telling(2);
    let made = task(1, move |pool| pool.schedule(other));
    pool.run_awaited(made, &*Waits::with(1, true));
    assert_eq!(on.try_recv(), Ok(own()));
    assert_eq!((pool.stats()[0].visits, pool.stats()[0].wake_ups), (1, 0));
    finish(&pool, machines);
}

/// A failure: what it finds in the global queue is a stranger's, and runs on the caller's thread.
#[test]
fn it_takes_no_strangers_task() {
    let (pool, machines) = idle(processors(2));
    for _ in 0..500 {
        let (stranger, on) = telling(2);
        pool.inject(stranger);
        pool.help(&*Waits::with(1, true));
        assert_ne!(on.recv(), Ok(own()));
    }
    finish(&pool, machines);
}
