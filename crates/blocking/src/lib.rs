#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod calls;
mod pool;

pub use calls::{Call, Calls, RunningCall};
pub use pool::{BlockingPool, Refused, is_blocking_thread};
