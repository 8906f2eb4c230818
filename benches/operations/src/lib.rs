//! Single operations of filch's crates, to be timed by criterion and counted in instructions.
//!
//! An [`Operation`] is done by one thread, with a primitive that no other thread touches. A
//! [`Job`](job::Job) needs a worker's thread; it is counted only.

mod calls;
mod engine;
mod fork_join;
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
    /// Makes the primitive, for any number of rounds.
    pub start: Box<dyn Fn() -> Rounds>,
}

/// Rounds with one primitive: it takes a step of a round when it is called.
pub type Rounds = Box<dyn FnMut(Step)>;

/// A step of a round.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sets up the round; not measured.
    Prepare,
    /// The round: this is measured.
    Run,
    /// Cleans up after the round; not measured.
    Restore,
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
        steps: [fn(&mut S); 3],
    ) -> Self {
        let start = move || -> Rounds {
            let mut primitive = primitive();
            Box::new(move |step| steps[step as usize](&mut primitive))
        };
        Self {
            name,
            times,
            start: Box::new(start),
        }
    }
}
