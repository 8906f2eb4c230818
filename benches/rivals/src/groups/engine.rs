//! The engine: tasks between its schedulers, a frame of small systems, and broadcasts.
//!
//! Each turn makes its contender anew and ends it: the schedulers of one that stays look for tasks
//! every millisecond, beside the others' turns.

mod broadcasts;
pub(crate) mod frame;
mod latency;
mod stream;

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use filch_engine::{Engine, Scheduler, Stage, Worker, WorkerHandle};
use parking_lot::Mutex;

use crate::harness::Scenario;
use crate::total::sum_to;
use crate::work::those_or;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let broadcasts = those_or(&[1, 10, 100]).into_iter();
    let broadcasts = broadcasts.map(broadcasts::scenario);
    let others = [stream::scenario(), latency::scenario(), frame::scenario()];
    others.into_iter().chain(broadcasts).collect()
}

/// A task of one word.
#[derive(Clone, Copy)]
struct Add(u64);

/// The data that it changes.
#[derive(Default)]
struct Counter {
    sum: u64,
    ran: u64,
}

impl Counter {
    fn add(&mut self, number: u64) {
        self.sum += number;
        self.ran += 1;
    }
}

/// An engine that ends with its turn.
struct Ends(Engine);

impl Ends {
    fn new() -> Self {
        Self(Engine::new())
    }

    fn start(&self, name: &str) -> Scheduler {
        self.0.scheduler(name).expect("the system gives threads")
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.terminate();
        self.0.join().expect("a thread of its own");
    }
}

/// Adds a worker, and returns once it runs tasks.
fn add(scheduler: &Scheduler, worker: Worker) -> WorkerHandle {
    let handle = scheduler.add(worker).expect("it fits");
    while handle.stage() < Stage::Runs {
        thread::yield_now();
    }
    handle
}

/// Has the worker count so many tasks, of all numbers up to that, and tell when it has the last.
fn counting(worker: Worker, tasks: u64, ended: Sender<Instant>) -> Worker {
    worker.on(move |task: &Add, counter: &mut Counter| {
        counter.add(task.0);
        if counter.ran == tasks {
            assert_eq!(counter.sum, sum_to(tasks));
            ended.send(Instant::now()).expect("the caller waits");
        }
    })
}

/// A task without its type, as one would write it without an engine.
type Erased = Box<dyn FnOnce(&mut Counter) + Send>;

fn erased(task: Add) -> Erased {
    Box::new(move |counter| counter.add(task.0))
}

/// Runs a task, with its data locked.
fn run(task: Erased, counter: &Mutex<Counter>) {
    task(&mut counter.lock());
}
