//! Models of the engine: its shipped code, with the scheduler driven by a thread of the model.

mod coming_and_going;
mod completion;
mod owners;
mod wake_ups;

use filch_engine::{Engine, LocalScheduler};
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};

/// A task.
#[derive(Clone)]
struct Ping;

/// Runs `code` with an engine and one scheduler, which this thread drives.
fn with_engine<R>(code: impl FnOnce(Engine, &LocalScheduler) -> R) -> R {
    let engine = Engine::new();
    let drive = |scheduler: &LocalScheduler| code(engine.clone(), scheduler);
    engine
        .local_scheduler("modelled", drive)
        .expect("the first")
}

/// Another thread, and a flag that says whether it has ended, but publishes nothing.
struct Other<T> {
    is_over: Arc<AtomicBool>,
    thread: thread::JoinHandle<T>,
}

impl<T: 'static> Other<T> {
    fn spawn(code: impl FnOnce() -> T + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let tells = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let result = code();
            tells.store(true, Ordering::Relaxed);
            result
        });
        Self { is_over, thread }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn join(self) -> T {
        self.thread.join().unwrap()
    }
}

/// Runs rounds of the scheduler until the condition holds.
fn drive_until(scheduler: &LocalScheduler, holds: impl Fn() -> bool) {
    while !holds() {
        scheduler.poll();
        thread::yield_now();
    }
}
