//! Workers come and go while others send: the listed types are read without a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_engine::Worker;
use filch_models::Bound;

use super::{Other, Ping, drive_until, with_engine};

fn counting(runs: &Arc<AtomicUsize>) -> Worker {
    let runs = Arc::clone(runs);
    Worker::new("counts").on(move |_: &Ping| {
        runs.fetch_add(1, Ordering::Relaxed);
    })
}

/// Two threads: one adds a worker, the other broadcasts. A broadcast that reaches the scheduler
/// reaches the worker: its task is behind the worker in the queue. Failure: reached, and not run.
#[test]
fn what_reaches_a_scheduler_reaches_its_new_worker() {
    Bound::exhaustive(1_300)
        .outcomes("an addition races a task", || {
            with_engine(|engine, scheduler| {
                let runs = Arc::new(AtomicUsize::new(0));
                let sends = Other::spawn({
                    let sender = engine.sender::<Ping>();
                    move || sender.send(Ping)
                });
                scheduler.handle().add(counting(&runs)).expect("it fits");
                drive_until(scheduler, || sends.is_over());
                let reached = sends.join();
                scheduler.poll();
                assert_eq!(
                    runs.load(Ordering::Relaxed),
                    reached,
                    "reached, and not run"
                );
                reached
            })
        })
        .assert_exactly([0, 1]);
}

/// Two threads: one removes a worker and drives it to its end, the other adds another that lists
/// the same type. From then on tasks reach that one. Failure: the end of the first removes the
/// route of the second.
#[test]
fn the_end_of_a_worker_takes_no_route_from_another() {
    Bound::exhaustive(290).check("an end races an addition", || {
        with_engine(|engine, scheduler| {
            let runs = Arc::new(AtomicUsize::new(0));
            let first = scheduler
                .handle()
                .add(Worker::new("first").on(|_: &Ping| {}));
            let first = first.expect("it fits");
            scheduler.poll();
            first.remove().expect("the first time");
            let adds = Other::spawn({
                let handle = scheduler.handle().clone();
                let second = counting(&runs);
                move || {
                    handle.add(second).expect("it fits");
                }
            });
            drive_until(scheduler, || first.exit().is_some() && adds.is_over());
            adds.join();
            assert_eq!(engine.broadcast(Ping), 1);
            scheduler.poll();
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        });
    });
}
