#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("filch-deque needs 64-bit atomics: a tag, an index and two flags change together");

mod deque;
mod long_way;
mod ring;
mod steal;
mod stealer;
mod top;
mod worker;

pub use ring::NoMemory;
pub use steal::Steal;
pub use stealer::{Request, Sole, Stealer};
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
