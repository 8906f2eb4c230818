#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod bond;
mod bound;
mod config;
#[expect(
    unsafe_code,
    reason = "a popped processor's number becomes its hold again"
)]
mod crew;
#[expect(
    unsafe_code,
    reason = "a thread finds its own machine through a pointer kept by the thread itself"
)]
mod current;
mod dump;
mod end;
mod find_work;
mod handoff;
#[expect(
    unsafe_code,
    reason = "the owner's part of a processor is reached by its holder alone"
)]
mod hold;
#[doc(hidden)] // public for the models, which check the protocol by itself
pub mod idle;
mod machine;
mod notice;
#[doc(hidden)] // for the schedulers, which contain their users' panics too
pub mod panic;
mod processor;
mod processors;
mod quiescence;
mod random;
mod resize;
#[expect(unsafe_code, reason = "the first hold of each processor")]
mod roster;
mod stats;
mod throttle;
mod vigil;
mod watch;

pub use bond::BoundId;
pub use bound::{BoundThread, ReserveError};
pub use config::{Config, StartError};
#[doc(hidden)] // for the schedulers, whose threads must not wait for one another
pub use current::is_machine;
pub use dump::Dump;
pub use machine::Machines;
pub use processors::{Processors, Runner};
pub use quiescence::NeverQuiescent;
pub use resize::ResizeError;
#[doc(hidden)] // for the schedulers, which count per worker too
pub use stats::Counter;
pub use stats::ProcessorStats;
pub use throttle::ThreadStats;

/// For the models, which check how processors change hands without threads' main loops and queues.
#[doc(hidden)]
pub mod protocol {
    pub use crate::bond::Release;
    pub use crate::crew::{Crew, Turn, Work};
    pub use crate::hold::Hold;
    pub use crate::notice::Notice;
}

use filch_sync::{Mutex, MutexGuard};
use std::sync::PoisonError;

/// Nothing that is guarded here is left half done by a panic.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[doc = include_str!("../ARCHITECTURE.md")]
pub mod architecture {}
