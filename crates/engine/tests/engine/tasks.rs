//! Rows D3, D10 and D11: the destinations of tasks, and their waiters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::common::{EndsInTime, Logged, alone, engine, only, report, until, within};
use filch_engine::{
    Completed, Context, Engine, NestedError, Scheduler, SendError, WaitError, Worker,
};

#[derive(Clone)]
struct Ping(u32);

#[derive(Clone)]
struct Pong(u32);

/// A task, with the number of its clones.
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

#[test]
fn d3_a_task_reaches_every_worker_that_lists_it_and_no_other() {
    let engine = engine();
    let (first, second) = (engine.start("first"), engine.start("second"));
    let log = Logged::new();
    for (scheduler, name) in [(&first, "a"), (&first, "b"), (&second, "c")] {
        let log = log.clone();
        let worker = Worker::new(name).on(move |ping: &Ping| log.add(format!("{name}{}", ping.0)));
        scheduler.add(worker).unwrap();
    }
    let other = log.clone();
    let worker = Worker::new("d").on(move |_: &Pong| other.add("pong"));
    second.add(worker).unwrap();
    assert_eq!(engine.broadcast(Ping(1)), 2, "schedulers");
    assert_eq!(engine.complete(Ping(2)), Completed { ran: 3, dropped: 0 });
    let mut entries = log.take();
    // Each worker runs them in the order in which they were sent.
    for name in ["a", "b", "c"] {
        let own: Vec<_> = entries
            .extract_if(.., |entry| entry.starts_with(name))
            .collect();
        assert_eq!(own, [format!("{name}1"), format!("{name}2")]);
    }
    assert!(entries.is_empty(), "{entries:?}");
}

#[test]
fn d3_a_task_nobody_lists_is_dropped_at_once() {
    let (engine, scheduler) = only();
    scheduler
        .add(Worker::new("other").on(|_: &Pong| {}))
        .unwrap();
    let clones = Arc::new(AtomicUsize::new(0));
    assert_eq!(engine.broadcast(Counted(Arc::clone(&clones))), 0);
    assert_eq!(Arc::strong_count(&clones), 1, "dropped, not kept");
    let nobody = Completed { ran: 0, dropped: 1 };
    assert_eq!(engine.complete(Counted(Arc::clone(&clones))), nobody);
    assert_eq!(clones.load(Ordering::Relaxed), 0);
}

/// Ends a scheduler while it is cloned: in the middle of a broadcast.
struct Terminates(Scheduler);

impl Clone for Terminates {
    fn clone(&self) -> Self {
        self.0.terminate();
        until(|| self.0.is_terminated());
        Self(self.0.clone())
    }
}

#[test]
fn d3_a_scheduler_that_has_ended_meanwhile_is_not_counted() {
    let engine = engine();
    let schedulers = ["first", "second"].map(|name| engine.start(name));
    for scheduler in &schedulers {
        let worker = Worker::new("worker").on(|_: &Terminates| {});
        scheduler.add(worker).unwrap();
    }
    let [_, second] = schedulers;
    assert_eq!(engine.broadcast(Terminates(second)), 1);
}

#[test]
fn a_broadcast_clones_once_for_each_interested_worker_but_the_last() {
    let engine = engine();
    let schedulers = [engine.start("0"), engine.start("1"), engine.start("2")];
    for scheduler in &schedulers[..2] {
        for name in ["a", "b", "c"] {
            scheduler
                .add(Worker::new(name).on(|_: &Counted| {}))
                .unwrap();
        }
    }
    schedulers[2]
        .add(Worker::new("not").on(|_: &Ping| {}))
        .unwrap();
    let clones = Arc::new(AtomicUsize::new(0));
    let completed = engine.complete(Counted(Arc::clone(&clones)));
    assert_eq!(completed, Completed { ran: 6, dropped: 0 });
    assert_eq!(clones.load(Ordering::Relaxed), 5);
}

#[test]
fn a_task_that_is_complete_is_counted() {
    let (engine, scheduler) = only();
    scheduler
        .add(Worker::new("runs").on(|_: &Ping| {}))
        .unwrap();
    // Read on this thread, as soon as it is told: a detour would be too late.
    let engine: &Engine = &engine;
    for number in 1..=20_000 {
        engine.complete(Ping(0)).unwrap();
        let report = engine.report();
        assert_eq!(report.schedulers[0].workers[0].ran, number);
    }
}

/// Has a slow destructor.
#[derive(Clone)]
struct Goes(Arc<AtomicUsize>);

impl Drop for Goes {
    fn drop(&mut self) {
        (0..1_000).for_each(|_| std::thread::yield_now());
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_task_that_is_complete_has_been_dropped() {
    let engine = engine();
    let worker = Worker::new("runs").on(|_: &Goes| {});
    engine.start("only").add(worker).unwrap();
    let gone = Arc::new(AtomicUsize::new(0));
    let completed = engine.complete(Goes(Arc::clone(&gone)));
    assert_eq!(completed, Completed { ran: 1, dropped: 0 });
    assert_eq!(gone.load(Ordering::Relaxed), 1);
}

#[test]
fn d10_a_task_sends_a_task_on() {
    let engine = engine();
    let (first, second) = (engine.start("first"), engine.start("second"));
    let (said, hears) = channel();
    let ping = Worker::new("ping").on(|ping: &Ping, context: Context<'_>| {
        assert_eq!(context.broadcast(Pong(ping.0 + 1)), 1);
    });
    first.add(ping).unwrap();
    let pong = Worker::new("pong").on(move |pong: &Pong| said.send(pong.0).unwrap());
    second.add(pong).unwrap();
    engine.broadcast(Ping(1));
    assert_eq!(within("the second task", move || hears.recv()), Ok(2));
}

#[test]
fn d10_a_task_waits_until_another_one_is_done() {
    for in_fiber in [false, true] {
        let engine = engine();
        let (first, second) = (engine.start("first"), engine.start("second"));
        let log = Logged::new();
        let (asks, answers) = (log.clone(), log.clone());
        let mut worker = Worker::new("asks").on(move |ping: &Ping, context: Context<'_>| {
            let completed = context.complete(Pong(ping.0));
            asks.add(format!("{completed:?}"));
        });
        if in_fiber {
            worker = worker.in_fiber();
        }
        // In the same scheduler, too: it goes on while the first one waits.
        first.add(worker).unwrap();
        for scheduler in [&first, &second] {
            let log = answers.clone();
            let worker = Worker::new("answers").on(move |pong: &Pong| log.add(pong.0.to_string()));
            scheduler.add(worker).unwrap();
        }
        engine.complete(Ping(7));
        let done = "Ok(Completed { ran: 2, dropped: 0 })";
        assert_eq!(log.take(), ["7", "7", done]);
    }
}

#[test]
fn d11_a_task_runs_another_one_inside_itself() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let (outer, inner) = (log.clone(), log.clone());
    let worker = Worker::new("both")
        .owns(|| 10_u32)
        .on(move |ping: &Ping, context: Context<'_>, number: &u32| {
            // Both only read: the inner one locks nothing twice.
            context.run_task(Pong(ping.0)).unwrap();
            outer.add(format!("outer {number}"));
        })
        .on(move |pong: &Pong, number: &u32| inner.add(format!("inner {}", pong.0 + number)));
    scheduler.add(worker).unwrap();
    engine.complete(Ping(1));
    assert_eq!(log.take(), ["inner 11", "outer 10"]);
}

#[test]
fn a_nested_task_that_asks_for_what_its_parent_has_is_refused() {
    let (engine, scheduler) = only();
    let (log, told) = Logged::pair();
    let worker = Worker::new("both")
        .owns(|| 10_u32)
        .on(move |_: &Ping, context: Context<'_>, _: &mut u32| {
            match context.run_task(Pong(5)) {
                Err(NestedError::Conflict(task, data)) => {
                    told.add(format!("{} {data}", task.0));
                }
                other => told.add(format!("{other:?}")),
            }
            // Data that an outer function has cannot be locked for a closure either.
            told.add(
                context
                    .lock(|number: &u32| *number)
                    .unwrap_err()
                    .to_string(),
            );
        })
        .on(move |_: &Pong, _: &u32| unreachable!("its parent changes the number"));
    scheduler.add(worker).unwrap();
    assert_eq!(engine.complete(Ping(1)), Completed { ran: 1, dropped: 0 });
    assert_eq!(log.take(), ["5 &u32", "&u32 is taken already"]);
}

#[test]
fn a_task_that_would_wait_for_itself_is_refused() {
    let (engine, scheduler) = only();
    let (log, told) = Logged::pair();
    let worker = Worker::new("itself").on(move |ping: &Ping, context: Context<'_>| {
        match context.complete(Ping(ping.0 + 1)) {
            Err(WaitError::Own(task)) => told.add(format!("{} back", task.0)),
            other => told.add(format!("{other:?}")),
        }
    });
    scheduler.add(worker).unwrap();
    engine.complete(Ping(1));
    assert_eq!(log.take(), ["2 back"]);
}

#[test]
fn a_pinned_task_reaches_one_worker_alone() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let handles = ["a", "b"].map(|name| {
        let log = log.clone();
        let worker = Worker::new(name).on(move |ping: &Ping| log.add(format!("{name}{}", ping.0)));
        scheduler.add(worker).unwrap()
    });
    handles[1].send(Ping(1)).unwrap();
    engine.complete(Ping(2));
    let mut entries = log.take();
    entries.sort();
    assert_eq!(entries, ["a2", "b1", "b2"]);
    let Err(SendError::Unlisted(Pong(3))) = handles[0].send(Pong(3)) else {
        panic!("handed back");
    };
    handles[0].remove().unwrap();
    handles[0].ends();
    let Err(SendError::Ended(Ping(4))) = handles[0].send(Ping(4)) else {
        panic!("handed back");
    };
}

#[test]
fn a_nested_task_that_is_handed_back_has_not_begun() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let (told, ran) = (log.clone(), log.clone());
    let worker = Worker::new("worker")
        .owns(|| 0_u32)
        .on(move |_: &Ping, context: Context<'_>, _: &mut u32| {
            let refused = context.run_task(Pong(2));
            told.add(format!("{refused:?}"));
            told.add(format!("{:?}", context.run_task("not listed")));
        })
        .on(move |_: &Pong| ran.add("the first of two"))
        .on(|_: &Pong, _: &u32| {});
    scheduler.add(worker).unwrap();
    engine.complete(Ping(1));
    assert_eq!(log.take(), ["Err(Conflict)", "Err(Unlisted)"]);
}

#[test]
fn a_task_inside_setup_owner_is_refused() {
    alone(|engine, local| {
        let (log, told) = Logged::pair();
        let worker =
            Worker::new("worker")
                .on(|_: &Ping| {})
                .setup_owner(move |context: Context<'_>| {
                    told.add(format!("{:?}", context.run_task(Ping(1))));
                    told.add(context.run_queued().to_string());
                });
        local.handle().add(worker).unwrap();
        // It has a task already.
        engine.broadcast(Ping(2));
        local.update();
        assert_eq!(log.take(), ["Err(Early)", "0"]);
        assert_eq!(report(engine).workers[0].ran, 1);
    });
}
