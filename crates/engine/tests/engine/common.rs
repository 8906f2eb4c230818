//! Helpers that the tests share. An event that a test waits for comes soon, or never: a wait that
//! takes far too long fails the test, and names the event.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use filch_engine::{
    Completed, Context, Engine, Exit, LocalScheduler, Scheduler, SchedulerReport, Task, Worker,
    WorkerHandle,
};

/// Longer than any step here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// More rounds than any test needs.
const MANY: usize = 10_000;

/// An engine that ends with its test.
pub(crate) struct Ends(Engine);

pub(crate) fn engine() -> Ends {
    Ends(Engine::new())
}

/// Makes an engine with one scheduler.
pub(crate) fn only() -> (Ends, Scheduler) {
    let engine = engine();
    let scheduler = engine.start("only");
    (engine, scheduler)
}

/// Makes an engine whose schedulers block after the first round without work.
pub(crate) fn sleepy_engine() -> Ends {
    Ends(Engine::with_rounds_before_rest(0))
}

impl Ends {
    pub(crate) fn start(&self, name: &str) -> Scheduler {
        self.0.scheduler(name).unwrap()
    }

    pub(crate) fn complete<T: Task>(&self, task: T) -> Completed {
        let engine = self.0.clone();
        within("the task's end", move || engine.complete(task).unwrap())
    }
}

impl Deref for Ends {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.terminate();
        // A test that fails may leave a scheduler that does not end.
        if !thread::panicking() {
            let engine = self.0.clone();
            within("the engine's end", move || engine.join().unwrap());
        }
    }
}

/// Runs `code`, which may block, on a thread of its own, and returns its result.
pub(crate) fn within<R: Send + 'static>(
    what: &str,
    code: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (tells, hears) = channel();
    thread::spawn(move || tells.send(code()));
    let Ok(result) = hears.recv_timeout(LONG) else {
        panic!("{what} has not come");
    };
    result
}

/// Waits until that holds.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "it has not come");
        thread::yield_now();
    }
}

/// Calls `code` with a scheduler of the engine that this thread drives.
pub(crate) fn here<R>(engine: &Engine, code: impl FnOnce(&LocalScheduler) -> R) -> R {
    engine.local_scheduler("here", code).unwrap()
}

/// Calls `code` with an engine, and its only scheduler, which this thread drives.
pub(crate) fn alone<R>(code: impl FnOnce(&Engine, &LocalScheduler) -> R) -> R {
    let engine = Engine::new();
    here(&engine, |local| code(&engine, local))
}

/// Drives a scheduler until that holds.
#[track_caller]
pub(crate) fn drive(scheduler: &LocalScheduler, holds: impl Fn() -> bool) {
    let came = (0..MANY).any(|_| {
        scheduler.update();
        holds()
    });
    assert!(came, "it has not come");
}

/// Returns the state of the only scheduler of an engine.
pub(crate) fn report(engine: &Engine) -> SchedulerReport {
    engine.report().schedulers.remove(0)
}

pub(crate) trait EndsInTime {
    /// Waits for a worker's end.
    fn ends(&self) -> Exit;
}

impl EndsInTime for WorkerHandle {
    #[track_caller]
    fn ends(&self) -> Exit {
        let Ok(Some(exit)) = self.join_timeout(LONG) else {
            panic!("{self:?} has not ended");
        };
        exit
    }
}

/// Makes a worker that owns that data, and keeps it locked until the gate is 1. Then it stays.
pub(crate) fn holds<T: Send + Sync + 'static>(data: T, gate: &Arc<AtomicUsize>) -> Worker {
    let open = Arc::clone(gate);
    let worker = Worker::new("holds").owns(|| data).in_fiber();
    worker.run(move |context| {
        let held = context.lock(|context: Context<'_>, _: &mut T| {
            context.wait_until(|| open.load(Ordering::Relaxed) == 1)
        });
        assert_eq!(held, Ok(Ok(())));
        let _ = context.wait_until(|| false);
    })
}

/// A log of events, in order.
#[derive(Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes a log, and a second handle of it.
    pub(crate) fn pair() -> (Self, Self) {
        let log = Self::new();
        (log.clone(), log)
    }

    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
