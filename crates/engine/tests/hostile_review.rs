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
