//! Single operations of filch's crates, to be timed by criterion and counted in instructions.
//!
//! An [`Operation`] is done by one thread, with a primitive that no other thread touches. A
//! [`Job`](job::Job) needs a worker's thread; it is counted only.

mod build_scheduler;
mod calls;
pub mod data_cell;
pub mod deque;
mod engine;
pub mod event_queue;
mod fork_join;
pub mod injector;
pub mod job;
pub mod parker;
pub mod process_state;
mod processors;
mod scheduler;
pub mod slab;
mod supervisor;

/// Something that one thread does, [`TIMES`](Self::TIMES) times a round.
pub trait Operation {
    /// The primitive, and what is done with it.
    const NAME: &'static str;

    /// The number of times that a round does it.
    const TIMES: u64;

    /// The primitive, empty.
    fn new() -> Self;

    /// Sets up the round; not measured.
    fn prepare(&mut self) {}

    /// One round: this is measured.
    fn run(&mut self);

    /// Cleans up after the round; not measured.
    fn restore(&mut self) {}
}

/// Does something with every operation.
pub trait Visitor {
    /// Called once for each operation, in the order of the tables.
    fn visit<O: Operation>(&mut self);
}

/// Shows `visitor` all operations.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<build_scheduler::Build>();
    visitor.visit::<data_cell::Write>();
    visitor.visit::<data_cell::Read>();
    visitor.visit::<deque::Push>();
    visitor.visit::<deque::Pop>();
    visitor.visit::<deque::BiasedPush>();
    visitor.visit::<deque::BiasedPop>();
    visitor.visit::<deque::StealHalf>();
    visitor.visit::<injector::Push>();
    visitor.visit::<injector::Pop>();
    visitor.visit::<injector::PopBatch>();
    visitor.visit::<event_queue::Push>();
    visitor.visit::<event_queue::Drain>();
    visitor.visit::<process_state::Turn>();
    visitor.visit::<parker::Token>();
    visitor.visit::<slab::AllocateRelease>();
    visitor.visit::<slab::PinUnpin>();
}
