//! Single operations of filch's crates, to be timed by criterion and counted in instructions.
//!
//! An [`Operation`] is done by one thread, with a primitive that no other thread touches. A
//! [`Job`](job::Job) needs a worker's thread; it is counted only.

mod calls;
mod engine;
mod fork_join;
mod injector;
pub mod job;
mod primitives;
mod processors;
mod scheduler;
mod supervisor;

use std::fmt;

pub use primitives::operations;

/// Something that one thread does, so many [times](Self::times) a round.
pub struct Operation {
    /// The primitive, and what is done with it.
    pub name: &'static str,
    /// The number of times that a round does it.
    pub times: u64,
    start: Box<dyn Fn() -> Box<dyn Rounds>>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Operation {
    fn new<S: 'static>(
        name: &'static str,
        times: u64,
        primitive: fn() -> S,
        [prepare, run, restore]: [fn(&mut S); 3],
    ) -> Self {
        let start = move || {
            Box::new(With {
                primitive: primitive(),
                prepare,
                run,
                restore,
            }) as _
        };
        Self {
            name,
            times,
            start: Box::new(start),
        }
    }

    /// Makes the primitive, for any number of rounds.
    pub fn start(&self) -> Box<dyn Rounds> {
        (self.start)()
    }
}

/// Rounds with one primitive.
pub trait Rounds {
    /// Sets up the round; not measured.
    fn prepare(&mut self);

    /// One round: this is measured.
    fn run(&mut self);

    /// Cleans up after the round; not measured.
    fn restore(&mut self);
}

struct With<S> {
    primitive: S,
    prepare: fn(&mut S),
    run: fn(&mut S),
    restore: fn(&mut S),
}

impl<S> Rounds for With<S> {
    fn prepare(&mut self) {
        (self.prepare)(&mut self.primitive);
    }

    fn run(&mut self) {
        (self.run)(&mut self.primitive);
    }

    fn restore(&mut self) {
        (self.restore)(&mut self.primitive);
    }
}
