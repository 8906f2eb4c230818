//! The engine: tasks between its schedulers, a frame of small systems, and what it costs idle.
//!
//! Each turn makes its contender anew and ends it: the schedulers of one that stays look for tasks
//! every millisecond, beside the others' turns.

mod broadcasts;
mod filch;
pub(crate) mod frame;
mod idle;
mod latency;
mod rivals;
mod stream;

use crate::harness::{Effort, Scenario};
use crate::workers::those_or;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let streams = those_or(&[1]).into_iter();
    let streams = streams.map(|senders| stream::scenario(senders, effort));
    let broadcasts = those_or(&[1, 10, 100]).into_iter();
    let broadcasts = broadcasts.map(|workers| broadcasts::scenario(workers, effort));
    let idle = those_or(&[1, 4]).into_iter();
    let idle = idle.map(|schedulers| idle::scenario(schedulers, effort));
    streams
        .chain([latency::scenario(effort), frame::scenario(effort)])
        .chain(broadcasts)
        .chain(idle)
        .collect()
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
