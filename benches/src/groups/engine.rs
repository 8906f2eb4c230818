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

pub(crate) use frame::bevy_frames;

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let mut scenarios = vec![stream::scenario(1, effort), latency::scenario(effort)];
    scenarios.push(frame::scenario(effort));
    scenarios.extend([1, 10, 100].map(|workers| broadcasts::scenario(workers, effort)));
    scenarios.extend([1, 4].map(|schedulers| idle::scenario(schedulers, effort)));
    scenarios
}

/// With so many schedulers; a broadcast to so many workers of one.
pub(crate) fn curve(count: usize, effort: Effort) -> [(&'static str, Scenario); 4] {
    [
        (
            "a task from schedulers to one",
            stream::scenario(count, effort),
        ),
        ("a frame on schedulers", frame::on_schedulers(count, effort)),
        (
            "a broadcast to workers",
            broadcasts::scenario(count as u64, effort),
        ),
        ("idle schedulers", idle::scenario(count as u32, effort)),
    ]
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
