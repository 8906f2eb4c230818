//! The kinds of tasks, and their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::common::{Logged, engine, here};

use super::Ping;
use filch_engine::{Completed, Context, Exit, NestedError, Stage, Worker};

/// Larger than the stack of the worker that runs it: a copy on that stack would end the program.
#[derive(Clone)]
struct Large([u8; 48 * 1024]);

#[test]
fn a_task_may_be_larger_than_the_fiber_that_runs_it() {
    let engine = engine();
    let scheduler = engine.scheduler("one").unwrap();
    let small = Worker::new("small").in_fiber_of(32 * 1024);
    let small = small.on(|large: &Large| assert_eq!(large.0[47 * 1024], 7));
    scheduler.add(small).unwrap();
    for _ in 0..2 {
        engine.broadcast(Large([7; 48 * 1024]));
    }
    let completed = engine.complete(Large([7; 48 * 1024]));
    assert_eq!(completed, Completed { ran: 1, dropped: 0 });
}

/// A received task has no function.
#[test]
fn a_received_task_does_not_run_inside_another() {
    let engine = engine();
    let run = |context: Context<'_>| {
        let refused = context.run_task(Ping(7));
        assert!(matches!(refused, Err(NestedError::Unlisted(Ping(7)))));
    };
    let worker = Worker::new("receives").receives::<Ping>().run(run);
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    assert_eq!(worker.join().unwrap(), Exit::Finished);
}

/// The first one cannot run its task before the second one has had turns.
#[test]
fn one_that_receives_does_so_after_the_other_has_run() {
    let engine = engine();
    let log = Logged::new();
    here(&engine, |local| {
        let may_run = Arc::new(AtomicBool::new(false));
        let first = {
            let (log, may_run) = (log.clone(), Arc::clone(&may_run));
            Worker::new("first")
                .in_fiber()
                .on(move |_: &Ping, context: Context<'_>| {
                    let wait = context.wait_until(|| may_run.load(Ordering::Relaxed));
                    log.add(format!("first {wait:?}"));
                })
        };
        local.handle().add(first).unwrap();
        let second = {
            let log = log.clone();
            Worker::new("second")
                .receives::<Ping>()
                .in_fiber()
                .run(move |context| {
                    let ping = context.receive::<Ping>().unwrap();
                    log.add(format!("second {}", ping.0));
                })
        };
        let second = local.handle().add(second.after("first")).unwrap();
        engine.broadcast(Ping(1));
        for _ in 0..20 {
            local.poll();
        }
        may_run.store(true, Ordering::Relaxed);
        let terminates = engine.clone();
        let joins = thread::spawn(move || {
            assert_eq!(second.join().unwrap(), Exit::Finished);
            terminates.terminate();
        });
        local.run();
        joins.join().unwrap();
    });
    assert_eq!(log.take(), ["first Ok(())", "second 1"]);
}

/// A worker with more tasks than it can run delays its scheduler's other workers only by the tasks
/// sent before theirs, and one turn.
#[test]
fn a_task_waits_for_those_that_were_sent_to_others_before() {
    let engine = engine();
    here(&engine, |local| {
        let ran = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&ran);
        let busy = Worker::new("busy").on(move |_: &Ping| {
            counts.fetch_add(1, Ordering::Relaxed);
        });
        local.handle().add(busy).unwrap();
        local.poll();
        for number in 0..1000 {
            engine.broadcast(Ping(number));
        }
        let before = Arc::new(AtomicUsize::new(0));
        let other = {
            let (ran, before) = (Arc::clone(&ran), Arc::clone(&before));
            Worker::new("other").setup(move || {
                before.store(ran.load(Ordering::Relaxed), Ordering::Relaxed);
            })
        };
        let other = local.handle().add(other).unwrap();
        while other.stage() != Stage::Runs {
            local.poll();
        }
        assert_eq!(before.load(Ordering::Relaxed), 1000);
    });
}

/// The limit counts tasks that are sent to it alone, too.
#[test]
fn a_worker_is_handed_as_many_pinned_tasks_as_it_runs_in_a_turn() {
    let engine = engine();
    here(&engine, |local| {
        let worker = Worker::new("worker").on(|_: &Ping| {});
        let worker = local.handle().add(worker).unwrap();
        local.poll();
        for number in 0..1000 {
            worker.send(Ping(number)).unwrap();
        }
        local.poll();
        let report = engine.report();
        let worker = &report.schedulers[0].workers[0];
        assert!(worker.ran > 0 && worker.queued == 0, "{worker}");
    });
}
