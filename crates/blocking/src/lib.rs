#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod pool;

pub use pool::{BlockingPool, is_blocking_thread};
