#![doc = include_str!("../README.md")]

mod current;
mod job;
mod join;
mod latch;
mod pool;
mod shared;
mod sleepers;
mod worker;

pub use join::join;
pub use pool::Pool;
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
