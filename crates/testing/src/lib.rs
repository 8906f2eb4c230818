#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod exploration;
mod mailbox;
mod no_step;
mod process_test;
mod seed;
mod step;

#[cfg(not(shuttle))]
#[path = "real_threads.rs"]
mod imp;

#[cfg(shuttle)]
#[path = "schedules.rs"]
mod imp;

pub use exploration::{Exploration, explore, replay, wait_for_end};
pub use filch_actors::timers::FakeClock;
pub use filch_sync::{hint, thread};
pub use mailbox::Mailbox;
pub use no_step::{NoStep, WhyNoStep};
pub use process_test::ProcessTest;
pub use seed::{Failure, NotASeed, Seed};
pub use step::{NewVersion, Step, StepStatus};

/// True if this build explores schedules: `--cfg shuttle`. Else a test that must find a race may
/// miss it.
pub const IS_SYSTEMATIC: bool = cfg!(shuttle);

/// The types that threads of a test share: std's, or shuttle's in a build that explores schedules.
pub mod sync {
    pub use crate::imp::{RwLock, mpsc};
    pub use filch_sync::{Arc, Condvar, Mutex, MutexGuard, atomic, lock};
}
