//! A thread that waits for a task learns of its end, in whatever way the task ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_engine::{Completed, Worker};
use filch_models::Bound;

use super::{Other, Ping, drive_until, with_engine};

/// Two threads: one sends a task and waits for its end, the other drives the scheduler, whose
/// worker changes data in the task. Failure: the waiter parks for ever, a deadlock; or it goes on
/// before it can see the task's change, a wrong count.
#[test]
fn a_waiter_sees_what_the_task_did() {
    Bound::exhaustive(67_000).check("a task's end is told", || {
        with_engine(|engine, scheduler| {
            let runs = filch_sync::Arc::new(filch_sync::atomic::AtomicUsize::new(0));
            let counts = filch_sync::Arc::clone(&runs);
            let worker = Worker::new("counts").on(move |_: &Ping| {
                // Relaxed: the end of the task alone must make this visible to the waiter.
                counts.fetch_add(1, Ordering::Relaxed);
            });
            let handle = scheduler.handle().add(worker).expect("it fits");
            let waits = Other::spawn(move || {
                let completed = engine.complete(Ping).unwrap();
                assert_eq!(completed, Completed { ran: 1, dropped: 0 });
                assert_eq!(runs.load(Ordering::Relaxed), 1, "not published");
            });
            drive_until(scheduler, || waits.is_over());
            waits.join();
            drop(handle);
        });
    });
}

/// Two threads: one sends a task and waits for its end; the other removes the worker meanwhile. The
/// task comes before, and is run or found in the ending worker's queue; or after, and nobody lists
/// it. Failure: a deadlock, as nobody reports the end of a task that is not run.
#[test]
fn a_waiter_is_released_by_a_worker_that_ends() {
    Bound::preemptions(3, 1_400)
        .outcomes("a removal races a task", || {
            with_engine(|engine, scheduler| {
                let runs = Arc::new(AtomicUsize::new(0));
                let counts = Arc::clone(&runs);
                let worker = Worker::new("ends").on(move |_: &Ping| {
                    counts.fetch_add(1, Ordering::Relaxed);
                });
                let worker = scheduler.handle().add(worker).expect("it fits");
                let waits = Other::spawn(move || engine.complete(Ping).unwrap());
                scheduler.poll();
                worker.remove().expect("the first time");
                drive_until(scheduler, || waits.is_over() && worker.exit().is_some());
                let Completed { ran, dropped } = waits.join();
                assert_eq!((ran, dropped), (runs.load(Ordering::Relaxed), 1 - ran));
                ran
            })
        })
        .assert_exactly([0, 1]);
}

/// Two threads: one sends a task and waits for its end; the other terminates the scheduler, and
/// drops it. Failure: a deadlock, when the task lies in a queue that nobody looks at any more.
#[test]
fn a_waiter_is_released_by_a_scheduler_that_ends() {
    Bound::preemptions(3, 9_500)
        .outcomes("termination races a task", || {
            let waits = with_engine(|engine, scheduler| {
                let worker = Worker::new("worker").on(|_: &Ping| {});
                scheduler.handle().add(worker).expect("it fits");
                let waits = Other::spawn(move || engine.complete(Ping).unwrap());
                scheduler.poll();
                waits
            });
            waits.join().ran
        })
        .assert_exactly([0, 1]);
}
