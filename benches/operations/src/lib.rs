//! Single operations of filch's crates, to be timed by criterion and counted in instructions.
//!
//! An [`Operation`] is done by one thread, with a primitive that no other thread touches. A
//! [`Job`](job::Job) needs a worker's thread; it is counted only.

mod build_scheduler;
mod calls;
mod data_cell;
mod deque;
mod engine;
mod event_queue;
mod fork_join;
mod injector;
pub mod job;
mod parker;
mod process_state;
mod processors;
mod scheduler;
mod slab;
mod supervisor;

/// Something that one thread does, so many times a round.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The primitive, and what is done with it.
    pub name: &'static str,

    /// How often a round does it.
    pub times: u64,

    /// Makes the primitive, and does rounds as long as that goes on.
    pub run: fn(&mut dyn Measure),
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Measures rounds.
pub trait Measure {
    /// Returns whether another round follows.
    fn goes_on(&mut self) -> bool;

    /// Does what is measured of a round.
    fn round(&mut self, work: &mut dyn FnMut());
}

const fn operation(name: &'static str, times: u64, run: fn(&mut dyn Measure)) -> Operation {
    Operation { name, times, run }
}

/// All operations, in the order of the tables.
pub const ALL: [Operation; 17] = [
    operation(
        "build-scheduler: schedule, pick, complete",
        build_scheduler::JOBS,
        build_scheduler::build,
    ),
    operation("data cell: lock three for writing", 1024, data_cell::write),
    operation("data cell: lock three for reading", 1024, data_cell::read),
    operation("deque: push", deque::ITEMS, deque::push),
    operation("deque: pop", deque::ITEMS, deque::pop),
    operation("deque, biased: push", deque::ITEMS, deque::biased_push),
    operation("deque, biased: pop", deque::ITEMS, deque::biased_pop),
    operation(
        "deque: steal half, 64 items",
        deque::VICTIMS as u64,
        deque::steal_half,
    ),
    operation("injector: push", injector::ITEMS, injector::push),
    operation("injector: pop", injector::ITEMS, injector::pop),
    operation(
        "injector: pop a batch of 32",
        injector::BATCHES,
        injector::pop_batch,
    ),
    operation("event queue: push", event_queue::EVENTS, event_queue::push),
    operation(
        "event queue: drain, per event",
        event_queue::EVENTS,
        event_queue::drain,
    ),
    operation("process state: turn", 1024, process_state::turn),
    operation("parker: unpark and park", 1024, parker::token),
    operation("slab: allocate and release", 1024, slab::allocate_release),
    operation("slab: pin and unpin", 1024, slab::pin_unpin),
];

/// Does `once` 1024 times in each round.
fn repeat(measure: &mut dyn Measure, mut once: impl FnMut()) {
    while measure.goes_on() {
        measure.round(&mut || (0..1024).for_each(|_| once()));
    }
}
