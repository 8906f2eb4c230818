//! What one would write without an engine: a channel of boxed functions, and data behind a mutex.

use crossbeam_channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;

use super::{Add, Counter};

/// A task without its type.
pub(super) type Erased = Box<dyn FnOnce(&mut Counter) + Send>;

pub(super) fn erased(task: Add) -> Erased {
    Box::new(move |counter| counter.add(task.0))
}

pub(super) fn channel() -> (Sender<Erased>, Receiver<Erased>) {
    unbounded()
}

/// Runs a task, with its data locked.
pub(super) fn run(task: Erased, counter: &Mutex<Counter>) {
    task(&mut counter.lock());
}
