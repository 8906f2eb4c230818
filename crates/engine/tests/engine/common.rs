//! What the tests share.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use filch_engine::{Engine, Scheduler};

/// An engine that ends with its test.
pub(crate) struct Ends(Engine);

pub(crate) fn engine() -> Ends {
    Ends(Engine::new())
}

impl Ends {
    pub(crate) fn start(&self, name: &str) -> Scheduler {
        self.0.scheduler(name).unwrap()
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

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn add(&self, entry: String) {
        self.0.lock().unwrap().push(entry);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
