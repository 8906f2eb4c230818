//! An engine for one turn.

use std::ops::Deref;
use std::thread;

use filch_engine::{Engine, Scheduler, Stage, Worker, WorkerHandle};

/// An engine that ends with its turn.
pub(super) struct Ends(Engine);

impl Ends {
    pub(super) fn new() -> Self {
        Self(Engine::new())
    }

    pub(super) fn start(&self, name: &str) -> Scheduler {
        self.0.scheduler(name).expect("the system gives threads")
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
        self.0.join();
    }
}

/// Adds a worker, and returns once it runs tasks.
pub(super) fn add(scheduler: &Scheduler, worker: Worker) -> WorkerHandle {
    let handle = scheduler.add(worker).expect("it fits");
    while handle.stage() < Stage::Runs {
        thread::yield_now();
    }
    handle
}
