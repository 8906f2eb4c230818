//! What could break, and what would show it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
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

/// Tasks that lie in their envelopes in each way, with destructors that panic, clones that panic,
/// and destructors that send. Each value that was made is dropped once.
mod shapes {
    use super::*;

    static ALIVE: AtomicIsize = AtomicIsize::new(0);

    /// Counts what is alive. Its fourth clone panics.
    struct Counted<S> {
        shape: S,
        clones: Arc<AtomicUsize>,
    }

    impl<S> Counted<S> {
        fn new(shape: S) -> Self {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            let clones = Arc::default();
            Self { shape, clones }
        }
    }

    impl<S: Clone> Clone for Counted<S> {
        fn clone(&self) -> Self {
            let clones = self.clones.fetch_add(1, Ordering::Relaxed);
            assert!(clones != 3, "wanted by the test");
            ALIVE.fetch_add(1, Ordering::Relaxed);
            let (shape, clones) = (self.shape.clone(), Arc::clone(&self.clones));
            Self { shape, clones }
        }
    }

    impl<S> Drop for Counted<S> {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[derive(Clone)]
    #[repr(align(64))]
    struct Aligned<S>(S);

    /// No bytes, and a destructor.
    struct Nothing;

    static NOTHINGS: AtomicIsize = AtomicIsize::new(0);

    impl Nothing {
        fn new() -> Self {
            NOTHINGS.fetch_add(1, Ordering::Relaxed);
            Self
        }
    }

    impl Clone for Nothing {
        fn clone(&self) -> Self {
            Self::new()
        }
    }

    impl Drop for Nothing {
        fn drop(&mut self) {
            NOTHINGS.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn goes<T: Send + Sync + Clone + 'static>(make: impl Fn() -> T) {
        let engine = Ends::new();
        let schedulers = ["one", "two"].map(|name| engine.scheduler(name).unwrap());
        let mut workers = Vec::new();
        for scheduler in &schedulers {
            for in_fiber in [false, true] {
                let looks = Worker::new("looks").on(|task: &T, context: Context<'_>| {
                    let address = std::ptr::from_ref(task).addr();
                    assert!(address.is_multiple_of(align_of::<T>()), "misplaced");
                    let _ = context.give_way();
                    // Inside of itself, while it is borrowed.
                    assert!(matches!(
                        context.run_task(Ping(1)),
                        Err(NestedError::Unlisted(_))
                    ));
                });
                let looks = match in_fiber {
                    true => looks.in_fiber(),
                    false => looks,
                };
                workers.push(scheduler.add(looks).unwrap());
            }
        }
        let receives = Worker::new("receives").receives::<T>().in_fiber();
        let receives = receives.run(|context: Context<'_>| {
            let mut kept = Vec::new();
            while let Ok(received) = context.receive::<T>() {
                let address = std::ptr::from_ref(&*received).addr();
                assert!(address.is_multiple_of(align_of::<T>()), "misplaced");
                kept.push(received);
                if kept.len() == 2 {
                    kept.remove(0);
                }
                let _ = context.give_way();
            }
            // The last one is kept over the end.
        });
        schedulers[0].add(receives).unwrap();
        for _ in 0..3 {
            let sends = AssertUnwindSafe(|| engine.broadcast(make()));
            let _ = catch_unwind(sends);
        }
        for worker in &workers {
            let _ = worker.send(make());
        }
        workers[0].remove().unwrap();
        workers[0].join();
        assert!(workers[0].send(make()).is_err());
        let waits = engine.clone();
        let task = make();
        let waits = thread::spawn(move || catch_unwind(AssertUnwindSafe(|| waits.complete(task))));
        engine.terminate();
        engine.join();
        let _ = waits.join().unwrap();
        assert!(workers[1].send(make()).is_err());
    }

    #[test]
    fn each_shape_goes_and_is_dropped_once() {
        goes(Nothing::new);
        goes(|| Aligned(Nothing::new()));
        goes(|| Counted::new(()));
        goes(|| Counted::new(7_u64));
        goes(|| Counted::new([7_u64; 9]));
        goes(|| Aligned(Counted::new(7_u8)));
        goes(|| Bombed::new(()));
        goes(|| Bombed::new([7_u64; 9]));
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
        assert_eq!(NOTHINGS.load(Ordering::Relaxed), 0);
    }

    /// Its destructor panics on a scheduler's thread, and not where the test has it.
    #[derive(Clone)]
    struct Bombed<S> {
        _shape: S,
        _bomb: Bomb,
    }

    impl<S> Bombed<S> {
        fn new(shape: S) -> Self {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            let _bomb = Bomb(thread::current().id());
            Self {
                _shape: shape,
                _bomb,
            }
        }
    }

    struct Bomb(thread::ThreadId);

    impl Clone for Bomb {
        fn clone(&self) -> Self {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            Self(self.0)
        }
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
            let is_outside = self.0 == thread::current().id() || thread::panicking();
            assert!(is_outside, "wanted by the test");
        }
    }
}

/// How long a worker that has more tasks than it can run keeps its scheduler's other workers
/// waiting: for all of the tasks that were sent before theirs, and one turn.
#[test]
fn a_task_waits_for_those_that_were_sent_to_others_before() {
    let engine = Ends::new();
    locally(&engine, |local| {
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

/// A scheduler sleeps while its worker waits for a task: each way in which that ends has to wake it.
/// Failure: the test does not end.
#[test]
fn each_end_of_a_task_wakes_the_scheduler_that_waits_for_it() {
    #[derive(Clone, Copy)]
    enum Ending {
        Runs,
        Panics,
        IsRemoved,
        IsTerminated,
        Receives,
        PanicsWithIt,
        Returns,
    }
    use Ending::*;
    for ending in [
        Runs,
        Panics,
        IsRemoved,
        IsTerminated,
        Receives,
        PanicsWithIt,
        Returns,
    ] {
        for in_fiber in [false, true] {
            for _ in 0..50 {
                let engine = Ends(Engine::with_rounds_before_rest(0));
                let there = engine.scheduler("there").unwrap();
                let got_it = Arc::new(AtomicBool::new(false));
                let gets = Arc::clone(&got_it);
                let other = Worker::new("other").in_fiber();
                let other = match ending {
                    Runs => other.on(|_: &Ping| {}),
                    Panics => other.on(|_: &Ping| panic!("wanted by the test")),
                    IsRemoved | IsTerminated => other.on(move |_: &Ping, context: Context<'_>| {
                        gets.store(true, Ordering::Relaxed);
                        let _ = context.wait_until(|| false);
                    }),
                    Receives => {
                        other.receives::<Ping>().run(
                            |context: Context<'_>| {
                                while context.receive::<Ping>().is_ok() {}
                            },
                        )
                    }
                    PanicsWithIt => other.receives::<Ping>().run(|context: Context<'_>| {
                        let _ping = context.receive::<Ping>();
                        panic!("wanted by the test");
                    }),
                    Returns => other
                        .receives::<Ping>()
                        .receives::<Pong>()
                        .run(|context: Context<'_>| drop(context.receive::<Pong>())),
                };
                let other = there.add(other).unwrap();
                let waits = Worker::new("waits").run(|context: Context<'_>| {
                    let completed = context.complete(Ping(1));
                    assert!(
                        completed.is_ok_and(|completed| completed.ran + completed.dropped == 1)
                    );
                });
                let waits = match in_fiber {
                    true => waits.in_fiber(),
                    false => waits,
                };
                let waits = engine.scheduler("here").unwrap().add(waits).unwrap();
                match ending {
                    Returns => drop(engine.broadcast(Pong(1))),
                    IsRemoved | IsTerminated => {
                        while !got_it.load(Ordering::Relaxed) {
                            thread::yield_now();
                        }
                        match ending {
                            IsRemoved => other.remove().unwrap(),
                            _ => there.terminate(),
                        }
                    }
                    _ => {}
                }
                assert_eq!(waits.join(), Exit::Finished);
            }
        }
    }
}

/// Failure: the test does not end.
#[test]
fn whatever_a_worker_waits_for_it_hears_that_it_is_to_end() {
    type Waits = fn(Context<'_>);
    let ways: [Waits; 4] = [
        |context| drop(context.receive::<Pong>()),
        |context| drop(context.complete(Ping(1))),
        |context| assert!(context.wait_until(|| false).is_err()),
        |context| while context.give_way().is_ok() {},
    ];
    for waits in ways {
        for (in_fiber, is_removed) in [(false, false), (false, true), (true, false), (true, true)] {
            for number in 0..50 {
                let engine = Ends(Engine::with_rounds_before_rest(0));
                let never = Worker::new("never").receives::<Ping>().in_fiber();
                let never = never.run(|context| drop(context.receive::<Pong>()));
                let never = never.receives::<Pong>();
                engine.scheduler("there").unwrap().add(never).unwrap();
                let worker = Worker::new("waits").receives::<Pong>().run(waits);
                let worker = match in_fiber {
                    true => worker.in_fiber(),
                    false => worker,
                };
                let here = engine.scheduler("here").unwrap();
                let worker = here.add(worker).unwrap();
                // Before it runs, or while it does.
                while number % 2 == 0 && worker.stage() != Stage::Runs {
                    thread::yield_now();
                }
                match is_removed {
                    true => worker.remove().unwrap(),
                    false => here.terminate(),
                }
                worker.join();
            }
        }
    }
}

/// Those that are sent to it alone, too.
#[test]
fn a_worker_is_handed_as_many_pinned_tasks_as_it_runs_in_a_turn() {
    let engine = Ends::new();
    locally(&engine, |local| {
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
