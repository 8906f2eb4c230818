//! What the tests share.
#![allow(dead_code, reason = "no test needs all of it")]

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use filch_engine::{Engine, Scheduler};

/// An engine that ends with its test.
pub struct Ends(Engine);

pub fn engine() -> Ends {
    Ends(Engine::new())
}

impl Ends {
    pub fn start(&self, name: &str) -> Scheduler {
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
pub struct Logged(Arc<Mutex<Vec<String>>>);

impl Logged {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&self, entry: String) {
        self.0.lock().unwrap().push(entry);
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}
