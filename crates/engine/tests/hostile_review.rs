//! What could break, and what would show it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use filch_engine::{
    Completed, Context, Engine, Exit, LocalScheduler, NestedError, Stage, WaitsFor, Worker,
};

#[derive(Clone, Debug, PartialEq)]
struct Ping(u32);

#[derive(Clone, Debug, PartialEq)]
struct Pong(u32);

/// An engine that ends with its test.
struct Ends(Engine);

impl Ends {
    fn new() -> Self {
        Self(Engine::new())
    }
}

impl std::ops::Deref for Ends {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.terminate();
        self.0.join();
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn locally<R>(engine: &Engine, drive: impl FnOnce(&LocalScheduler) -> R) -> R {
    engine.local_scheduler("here", drive).unwrap()
}

/// Larger than the stack of the worker that runs it: the program would end by a signal.
#[derive(Clone)]
struct Large([u8; 96 * 1024]);

#[test]
fn a_task_may_be_larger_than_the_fiber_that_runs_it() {
    let engine = Ends::new();
    let scheduler = engine.scheduler("one").unwrap();
    let small = Worker::new("small").in_fiber_of(64 * 1024);
    let small = small.on(|large: &Large| assert_eq!(large.0[95 * 1024], 7));
    scheduler.add(small).unwrap();
    for _ in 0..2 {
        engine.broadcast(Large([7; 96 * 1024]));
    }
    let completed = engine.complete(Large([7; 96 * 1024]));
    assert_eq!(completed, Completed { ran: 1, dropped: 0 });
}

/// A received task has no function.
#[test]
fn a_received_task_does_not_run_inside_another() {
    let engine = Ends::new();
    let run = |context: Context<'_>| {
        let refused = context.run_task(Ping(7));
        assert!(matches!(refused, Err(NestedError::Unlisted(Ping(7)))));
    };
    let worker = Worker::new("receives").receives::<Ping>().run(run);
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    assert_eq!(worker.join(), Exit::Finished);
}

/// The first one cannot run its task before the second one has had turns.
#[test]
fn one_that_receives_does_so_after_the_other_has_run() {
    let engine = Ends::new();
    let log = Log::default();
    locally(&engine, |local| {
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
        let first = local.handle().add(first).unwrap();
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
        let second = local.handle().add(second.after(&first)).unwrap();
        engine.broadcast(Ping(1));
        for _ in 0..20 {
            local.poll();
        }
        may_run.store(true, Ordering::Relaxed);
        let terminates = engine.clone();
        let joins = thread::spawn(move || {
            assert_eq!(second.join(), Exit::Finished);
            terminates.terminate();
        });
        local.run();
        joins.join().unwrap();
    });
    assert_eq!(log.take(), ["first Ok(())", "second 1"]);
}

/// Sends more than a scheduler takes in a round, and then a task that a thread waits for.
struct SendsLate(Engine, Arc<Mutex<Option<thread::JoinHandle<Completed>>>>);

impl Drop for SendsLate {
    fn drop(&mut self) {
        for number in 0..3000 {
            self.0.broadcast(Ping(number));
        }
        let (tell, told) = channel();
        let engine = self.0.clone();
        let waiter = thread::spawn(move || {
            tell.send(()).unwrap();
            engine.complete(Ping(0))
        });
        told.recv().unwrap();
        *self.1.lock().unwrap() = Some(waiter);
    }
}

#[test]
fn a_local_scheduler_that_was_run_to_its_end_keeps_nobody_waiting() {
    let engine = Ends::new();
    let waiter = Arc::default();
    let completed = locally(&engine, |local| {
        let late = SendsLate(engine.clone(), Arc::clone(&waiter));
        let worker = Worker::new("late").on(|_: &Ping| {}).local(move || late);
        let worker = local.handle().add(worker).unwrap();
        while worker.stage() != Stage::Runs {
            local.poll();
        }
        local.handle().terminate();
        local.run();
        assert!(local.handle().is_terminated());
        let waiter = waiter.lock().unwrap().take().unwrap();
        waiter.join().unwrap()
    });
    assert_eq!(completed.ran, 0);
}

/// Its workers end in peace: a worker that sees the thread panic takes it for its own panic.
#[test]
fn a_panic_of_the_one_that_drives_is_not_one_of_its_workers() {
    let engine = Ends::new();
    let waiter = Mutex::new(None);
    let has_it = Arc::new(AtomicBool::new(false));
    let drives = || {
        locally(&engine, |local| {
            let tells = Arc::clone(&has_it);
            let worker = Worker::new("receives").receives::<Ping>().in_fiber();
            let worker = worker.run(move |context| {
                let _ping = context.receive::<Ping>().unwrap();
                tells.store(true, Ordering::Relaxed);
                while context.give_way().is_ok() {}
            });
            local.handle().add(worker).unwrap();
            let waits = engine.clone();
            *waiter.lock().unwrap() = Some(thread::spawn(move || waits.complete(Ping(1))));
            while !has_it.load(Ordering::Relaxed) {
                local.update();
            }
            panic!("wanted by the test");
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(drives)).is_err());
    let waiter = waiter.into_inner().unwrap_or_else(PoisonError::into_inner);
    let completed = waiter.unwrap().join().unwrap();
    assert_eq!(completed, Completed { ran: 1, dropped: 0 });
}

/// What the report says of a worker at present.
fn waits_for(engine: &Engine, name: &str) -> Option<WaitsFor> {
    let report = engine.report();
    let mut workers = report
        .schedulers
        .iter()
        .flat_map(|scheduler| &scheduler.workers);
    workers
        .find(|worker| worker.name == name)
        .unwrap()
        .waits_for
}

struct World;

#[test]
fn what_has_its_data_is_not_shown_to_wait_for_it() {
    let engine = Ends::new();
    let seen = Log::default();
    locally(&engine, |local| {
        let holds = Worker::new("holds").in_fiber().owns(|| World);
        let holds = holds.on(|_: &Ping, _: &mut World, context: Context<'_>| {
            for _ in 0..5 {
                context.give_way().unwrap();
            }
        });
        local.handle().add(holds).unwrap();
        let by_task = {
            let (engine, seen) = (engine.clone(), seen.clone());
            move |_: &Ping, _: &mut World| seen.add(format!("{:?}", waits_for(&engine, "task")))
        };
        let task = Worker::new("task").group::<World>().on(by_task);
        let task = local.handle().add(task).unwrap();
        let by_run = {
            let (engine, seen) = (engine.clone(), seen.clone());
            move |context: Context<'_>| {
                drop(context.receive::<Ping>().unwrap());
                let look = |_: &World| seen.add(format!("{:?}", waits_for(&engine, "run")));
                context.lock(look).unwrap();
            }
        };
        let run = Worker::new("run").group::<World>().in_fiber();
        let run = local
            .handle()
            .add(run.receives::<Ping>().run(by_run))
            .unwrap();
        while task.stage() != Stage::Runs || run.stage() != Stage::Runs {
            local.poll();
        }
        engine.broadcast(Ping(1));
        local.poll();
        let held = |name| matches!(waits_for(&engine, name), Some(WaitsFor::Lock(_)));
        assert!(held("task") && held("run"));
        while run.exit().is_none() {
            local.poll();
        }
    });
    assert_eq!(seen.take(), ["None", "None"]);
}

#[test]
fn one_that_is_told_to_end_is_not_shown_to_wait_on() {
    let engine = Ends::new();
    let seen = Log::default();
    let run = {
        let (engine, seen) = (engine.clone(), seen.clone());
        move |context: Context<'_>| {
            assert!(context.wait_until(|| false).is_err());
            seen.add(format!("{:?}", waits_for(&engine, "run")));
        }
    };
    let worker = Worker::new("run").run(run);
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    while waits_for(&engine, "run").is_none() {
        thread::yield_now();
    }
    worker.remove().unwrap();
    worker.join();
    assert_eq!(seen.take(), ["None"]);
}

/// Says how many tasks the report says are left, when it is dropped.
struct SaysQueued(Engine, Log);

impl Drop for SaysQueued {
    fn drop(&mut self) {
        let report = self.0.report();
        let queued = report.schedulers[0].workers[0].queued;
        self.1.add(format!("{queued} queued"));
    }
}

#[test]
fn a_task_that_panicked_is_not_shown_to_wait() {
    let engine = Ends::new();
    let log = Log::default();
    let says = SaysQueued(engine.clone(), log.clone());
    let worker = Worker::new("panics").local(move || says);
    let worker = worker.on(|_: &Ping| panic!("wanted by the test"));
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    engine.broadcast(Ping(1));
    assert!(matches!(worker.join(), Exit::Panicked { .. }));
    assert_eq!(log.take(), ["0 queued"]);
}

/// How often that scheduler was about to block.
fn rests(engine: &Engine, name: &str) -> u64 {
    let report = engine.report();
    let mut schedulers = report.schedulers.iter();
    schedulers
        .find(|scheduler| scheduler.name == name)
        .unwrap()
        .rests
}

/// The one that polls is the clock: it wakes every millisecond.
#[test]
fn one_without_a_fiber_that_waits_for_a_task_does_not_poll() {
    let engine = Ends::new();
    let receives = Worker::new("receives").receives::<Ping>();
    let receives = receives.run(|context: Context<'_>| drop(context.receive::<Ping>()));
    let receives = engine.scheduler("receives").unwrap().add(receives).unwrap();
    while waits_for(&engine, "receives").is_none() {
        thread::yield_now();
    }
    let polls = Worker::new("polls").run(|context: Context<'_>| {
        let _ = context.wait_until(|| false);
    });
    engine.scheduler("polls").unwrap().add(polls).unwrap();
    while rests(&engine, "polls") < 100 {
        thread::yield_now();
    }
    assert!(rests(&engine, "receives") < 10);
    assert_eq!(engine.complete(Ping(1)), Completed { ran: 1, dropped: 0 });
    assert_eq!(receives.join(), Exit::Finished);
}
