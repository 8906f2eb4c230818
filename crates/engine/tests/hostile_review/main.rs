//! What could break, and what would show it.

mod ends;
mod reports;
mod shapes;
mod tasks;

use std::sync::{Arc, Mutex};

use filch_engine::{Engine, LocalScheduler, WaitsFor};

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
