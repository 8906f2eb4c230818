//! The way of a panic: to the handler if nobody waits for it, else to the waiter.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::alone;

/// (`resume_unwind` does not call the panic hook, which would print.)
fn panic_with(value: usize) {
    resume_unwind(Box::new(value));
}

fn telling(sender: Sender<usize>) -> ThreadPool {
    let tell = move |payload: Box<dyn Any + Send>| {
        sender.send(*payload.downcast::<usize>().unwrap()).unwrap();
    };
    let builder = ThreadPoolBuilder::new().num_threads(2);
    builder.panic_handler(tell).build().unwrap()
}

/// The handler gets each panic once, and the threads go on.
#[test]
fn the_handler_is_given_what_spawned_jobs_say() {
    const JOBS: usize = 100;
    let (sender, told) = channel();
    let pool = telling(sender);
    for job in 0..JOBS {
        pool.spawn(move || panic_with(job));
        pool.spawn_fifo(move || panic_with(JOBS + job));
    }
    assert_eq!(pool.install(|| 7), 7);
    drop(pool);
    let mut told: Vec<_> = told.iter().collect();
    told.sort_unstable();
    assert!(told.into_iter().eq(0..2 * JOBS));
}

/// Somebody waits for these.
#[test]
fn the_handler_is_not_given_what_leaves_a_scope() {
    let (sender, told) = channel();
    let pool = telling(sender);
    let waits: [&dyn Fn(); 5] = [
        &|| pool.install(|| panic_with(1)),
        &|| pool.join(|| (), || panic_with(1)).1,
        &|| pool.scope(|scope| scope.spawn(|_| panic_with(1))),
        &|| pool.scope_fifo(|scope| scope.spawn_fifo(|_| panic_with(1))),
        &|| drop(pool.broadcast(|_| panic_with(1))),
    ];
    for wait in waits {
        let payload = catch_unwind(AssertUnwindSafe(wait)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&1_usize));
    }
    drop(pool);
    assert_eq!(told.iter().count(), 0);
}

#[test]
fn a_panic_without_a_handler_aborts() {
    let name = "panics::a_panic_without_a_handler_aborts";
    alone::aborts(name, "aborting", || {
        rayon_core::spawn(|| panic!("of the test"));
        wait_forever();
    });
}

#[test]
fn a_handler_that_panics_aborts() {
    let name = "panics::a_handler_that_panics_aborts";
    alone::aborts(name, "aborting", || {
        let builder = ThreadPoolBuilder::new().panic_handler(|_| panic!("of the handler"));
        builder.build().unwrap().spawn(|| panic!("of the test"));
        wait_forever();
    });
}

#[test]
fn a_start_handler_that_panics_without_a_handler_aborts() {
    let name = "panics::a_start_handler_that_panics_without_a_handler_aborts";
    alone::aborts(name, "aborting", || {
        let builder = ThreadPoolBuilder::new().start_handler(|_| panic!("of the test"));
        let _pool = builder.build();
        wait_forever();
    });
}

/// Sleeps until the process is aborted.
fn wait_forever() {
    let (sender, receiver) = channel::<()>();
    let _ = receiver.recv();
    drop(sender);
}
