#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bounded;
mod clock;
mod fake_clock;
mod looks;
mod queue;
mod service;
mod sharing;
mod sleep;
mod timer_thread;
mod timers;

pub use bounded::Bounded;
pub use clock::{Alarm, Clock, SystemClock, Ticks};
pub use fake_clock::FakeClock;
pub use queue::{TimerKey, after};
pub use service::pending_for;
pub use sharing::Sharing;

#[doc(hidden)] // for the schedulers, whose threads must not wait for one another
pub use service::{is_timer_thread, never_wait_on};
pub use sleep::{Sleep, TimersClosed};
pub use timer_thread::RunningTimer;
#[doc(hidden)] // for the schedulers, whose handlers own timers
pub use timer_thread::{TimerThread, drop_with_timers};
pub use timers::{NotSet, TimerGuard, Timers};
