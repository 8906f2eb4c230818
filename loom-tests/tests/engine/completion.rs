//! A thread that waits for a task is told its end, however that comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_engine::{Completed, Worker};
use loom_tests::{Bound, Outcomes, check};

use super::{Other, Ping, drive_until, with_engine};

/// Two threads: one sends a task and waits for its end, the other one drives the scheduler, whose
/// worker changes data in it. Failure: the waiter parks for ever, a deadlock; or it goes on before
/// the task's change is there for it, a wrong count.
#[test]
fn a_waiter_sees_what_the_task_did() {
    check("a task's end is told", Bound::exhaustive(35_000), || {
        with_engine(|engine, scheduler| {
            let runs = filch_sync::Arc::new(filch_sync::atomic::AtomicUsize::new(0));
            let counts = filch_sync::Arc::clone(&runs);
            let worker = Worker::new("counts").on(move |_: &Ping| {
                // Relaxed: what the waiter sees, it sees by the end of the task alone.
                counts.fetch_add(1, Ordering::Relaxed);
            });
            let handle = scheduler.handle().add(worker).expect("it fits");
            let waits = Other::spawn(move || {
                let completed = engine.complete(Ping);
                assert_eq!(completed, Completed { ran: 1, dropped: 0 });
                assert_eq!(runs.load(Ordering::Relaxed), 1, "not published");
            });
            drive_until(scheduler, || waits.is_over());
            waits.join();
            drop(handle);
        });
    });
}

/// Two threads: one sends a task and waits for its end; the other one removes the worker meanwhile.
/// The task comes before, and is run or found in the queue of the one that ends; or after, and
/// nobody lists it. Failure: a deadlock, when a task that nobody runs is not told of.
#[test]
fn a_waiter_is_released_by_a_worker_that_ends() {
    let outcomes = Outcomes::new();
    check("a removal races a task", Bound::preemptions(3, 1_400), {
        let outcomes = outcomes.clone();
        move || {
            with_engine(|engine, scheduler| {
                let runs = Arc::new(AtomicUsize::new(0));
                let counts = Arc::clone(&runs);
                let worker = Worker::new("ends").on(move |_: &Ping| {
                    counts.fetch_add(1, Ordering::Relaxed);
                });
                let worker = scheduler.handle().add(worker).expect("it fits");
                let waits = Other::spawn(move || engine.complete(Ping));
                scheduler.poll();
                worker.remove().expect("the first time");
                drive_until(scheduler, || waits.is_over() && worker.exit().is_some());
                let Completed { ran, dropped } = waits.join();
                assert_eq!((ran, dropped), (runs.load(Ordering::Relaxed), 1 - ran));
                outcomes.observe(ran);
            });
        }
    });
    outcomes.assert_exactly([0, 1]);
}

/// Two threads: one sends a task and waits for its end; the other one terminates the scheduler, and
/// drops it. Failure: a deadlock, when the task lies in a queue that nobody looks at any more.
#[test]
fn a_waiter_is_released_by_a_scheduler_that_ends() {
    let outcomes = Outcomes::new();
    check("termination races a task", Bound::preemptions(3, 3_900), {
        let outcomes = outcomes.clone();
        move || {
            let waits = with_engine(|engine, scheduler| {
                let worker = Worker::new("worker").on(|_: &Ping| {});
                scheduler.handle().add(worker).expect("it fits");
                let waits = Other::spawn(move || engine.complete(Ping));
                scheduler.poll();
                waits
            });
            outcomes.observe(waits.join().ran);
        }
    });
    outcomes.assert_exactly([0, 1]);
}
