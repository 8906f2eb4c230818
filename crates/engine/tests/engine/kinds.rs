//! Rows D5 and D6: the four kinds of worker, and the way in which each gives way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{EndsInTime, Logged, alone, drive, only, report, until};
use filch_engine::{Completed, Context, Exit, Unfit, Worker};

#[derive(Clone)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

#[test]
fn d5_a_fiber_without_a_run_runs_its_tasks_and_may_wait_in_them() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let gates = Arc::new(AtomicUsize::new(0));
    for own in 1..=2 {
        let (log, gates) = (log.clone(), Arc::clone(&gates));
        let worker =
            Worker::new(format!("{own}"))
                .in_fiber()
                .on(move |_: &Ping, context: Context<'_>| {
                    log.add(format!("{own} begins"));
                    context
                        .wait_until(|| gates.load(Ordering::Relaxed) >= own)
                        .unwrap();
                    log.add(format!("{own} ends"));
                });
        scheduler.add(worker).unwrap();
    }
    // Opens the first one first: on one stack it cannot end before the second one.
    let opens = Worker::new("opens").on(move |_: &Pong| {
        gates.fetch_add(1, Ordering::Relaxed);
    });
    scheduler.add(opens).unwrap();
    engine.broadcast(Ping(0));
    engine.complete(Pong);
    until(|| log.len() >= 3);
    engine.complete(Pong);
    until(|| log.len() >= 4);
    assert_eq!(log.take(), ["1 begins", "2 begins", "1 ends", "2 ends"]);
}

#[test]
fn d5_a_worker_with_its_own_run_and_no_fiber_has_its_scheduler_to_itself() {
    let (engine, scheduler) = only();
    let (log, told) = Logged::pair();
    let alone = || {
        let told = told.clone();
        Worker::new("alone")
            .on(move |ping: &Ping| told.add(ping.0.to_string()))
            .run(|context| {
                while context.give_way().is_ok() {
                    context.run_queued();
                }
            })
    };
    let worker = scheduler.add(alone()).unwrap();
    for other in [Worker::new("beside"), alone()] {
        assert_eq!(scheduler.add(other).unwrap_err().reason, Unfit::NotAlone);
    }
    assert_eq!(engine.complete(Ping(3)), Completed { ran: 1, dropped: 0 });
    assert_eq!(log.take(), ["3"]);
    worker.remove().unwrap();
    assert_eq!(worker.ends(), Exit::Removed);
    // Once it has ended, others may come; then it may not, until they have ended.
    let beside = scheduler.add(Worker::new("beside")).unwrap();
    assert_eq!(scheduler.add(alone()).unwrap_err().reason, Unfit::NotAlone);
    beside.remove().unwrap();
    assert_eq!(beside.ends(), Exit::Removed);
    assert_eq!(report(&engine).workers.len(), 0);
    scheduler.add(alone()).unwrap();
}

#[test]
fn d5_a_worker_without_fiber_and_run_gives_way_when_its_queue_is_empty() {
    alone(|engine, local| {
        let log = Logged::new();
        for name in ["a", "b"] {
            let log = log.clone();
            let worker =
                Worker::new(name).on(move |ping: &Ping| log.add(format!("{name}{}", ping.0)));
            local.handle().add(worker).unwrap();
        }
        local.update();
        (1..=2).for_each(|number| {
            engine.broadcast(Ping(number));
        });
        local.update();
        // Each runs all its tasks, and then the next one.
        assert_eq!(log.take(), ["a1", "a2", "b1", "b2"]);
    });
}

#[test]
fn d6_a_worker_without_a_fiber_steps_the_scheduler_while_it_waits() {
    alone(|engine, local| {
        let log = Logged::new();
        let (asks, answers) = (log.clone(), log.clone());
        let worker = Worker::new("asks").on(move |_: &Ping, context: Context<'_>| {
            asks.add("asks");
            context.complete(Pong).unwrap();
            asks.add("has its answer");
        });
        local.handle().add(worker).unwrap();
        let worker = Worker::new("answers").on(move |_: &Pong| answers.add("answers"));
        local.handle().add(worker).unwrap();
        local.update();
        engine.broadcast(Ping(0));
        // One round of the loop: the answer came from a round inside it.
        local.update();
        assert_eq!(log.take(), ["asks", "answers", "has its answer"]);
    });
}

/// The worker must not begin a second task inside the first, though the scheduler takes turns.
#[test]
fn d6_a_worker_that_waits_on_the_stack_is_not_entered_again() {
    alone(|engine, local| {
        let (log, told) = Logged::pair();
        let worker = Worker::new("waits").on(move |ping: &Ping, context: Context<'_>| {
            told.add(format!("begins {}", ping.0));
            (0..5).for_each(|_| context.give_way().unwrap());
            told.add(format!("ends {}", ping.0));
        });
        local.handle().add(worker).unwrap();
        (1..=2).for_each(|number| {
            engine.broadcast(Ping(number));
        });
        drive(local, || log.len() >= 4);
        assert_eq!(log.take(), ["begins 1", "ends 1", "begins 2", "ends 2"]);
    });
}

/// A thousand waits on one stack would overflow it: beyond some depth the workers without a stack
/// of their own must wait for their turn, and the others go on.
#[test]
fn a_stack_that_waits_build_up_has_a_bound() {
    let (engine, scheduler) = only();
    // Waits that are over do not count.
    let before = Worker::new("before").on(|_: &Pong, context: Context<'_>| {
        (0..200).for_each(|_| context.give_way().unwrap());
    });
    let before = scheduler.add(before).unwrap();
    assert_eq!(engine.complete(Pong), Completed { ran: 1, dropped: 0 });
    before.remove().unwrap();
    let gate = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..1_000)
        .map(|_| {
            let gate = Arc::clone(&gate);
            let waits = Worker::new("waits").on(move |_: &Ping, context: Context<'_>| {
                context
                    .wait_until(|| gate.load(Ordering::Relaxed) > 0)
                    .unwrap();
            });
            scheduler.add(waits).unwrap()
        })
        .collect();
    let opens = Worker::new("opens").in_fiber().on(move |_: &Pong| {
        gate.store(1, Ordering::Relaxed);
    });
    scheduler.add(opens).unwrap();
    engine.broadcast(Ping(1));
    engine.broadcast(Pong);
    assert_eq!(
        engine.complete(Ping(2)),
        Completed {
            ran: 1_000,
            dropped: 0
        }
    );
    assert!(workers.iter().all(|worker| worker.exit().is_none()));
}
