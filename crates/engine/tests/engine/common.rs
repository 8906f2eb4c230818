//! What the tests share. What a test waits for comes soon, or never: a wait that takes so long that
//! it must be the second fails the test, with what it waited for.

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

/// Longer than anything here takes on a machine that has other things to do.
const LONG: Duration = Duration::from_secs(60);

/// More rounds than any test needs.
const MANY: usize = 10_000;

/// An engine that ends with its test.
pub(crate) struct Ends(Engine);

pub(crate) fn engine() -> Ends {
    Ends(Engine::new())
}

/// One whose schedulers block after the first round in which nothing was done.
pub(crate) fn sleepy_engine() -> Ends {
    Ends(Engine::with_rounds_before_rest(0))
}

impl Ends {
    pub(crate) fn start(&self, name: &str) -> Scheduler {
        self.0.scheduler(name).unwrap()
    }

    pub(crate) fn complete<T: Task>(&self, task: T) -> Completed {
        let engine = self.0.clone();
        within("the task's end", move || engine.complete(task))
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
            within("the engine's end", move || engine.join());
        }
    }
}

/// What `code` returns, which may block, on a thread of its own.
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

/// With a scheduler of the engine that this thread drives.
pub(crate) fn here<R>(engine: &Engine, code: impl FnOnce(&LocalScheduler) -> R) -> R {
    engine.local_scheduler("here", code).unwrap()
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

/// What the only scheduler of an engine does.
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
        let Some(exit) = self.join_timeout(LONG) else {
            panic!("{self:?} has not ended");
        };
        exit
    }
}

/// A worker that owns that data, and has it locked until the gate is 1. It stays after that.
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

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    pub(crate) fn new() -> Self {
        Self::default()
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
