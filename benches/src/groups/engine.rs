//! The engine: tasks between its schedulers, a frame of small systems, and what it costs idle.
//!
//! Each turn makes its contender anew and ends it: the schedulers of one that stays look for tasks
//! every millisecond, beside the others' turns.

mod broadcasts;
mod filch;
mod frame;
mod idle;
mod latency;
mod rivals;
mod stream;

use crate::harness::{Effort, Scenario};

pub(super) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let mut scenarios = vec![stream::scenario(effort), latency::scenario(effort)];
    scenarios.extend(frame::scenarios(effort));
    scenarios.extend(broadcasts::scenarios(effort));
    scenarios.extend(idle::scenarios(effort));
    scenarios
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
