//! What comes into a scheduler's queue.

use crate::task::Envelope;
use crate::worker::spec::Spec;

pub(crate) enum Message {
    /// For each worker that lists its type.
    Task(Envelope),
    /// For that worker alone.
    TaskFor(usize, Envelope),
    /// A new worker.
    Add(Box<Spec>),
    /// That worker is to end.
    Remove(usize),
    /// All are, and then the scheduler.
    Terminate,
}
