#![doc = include_str!("../README.md")]

mod current;
mod job;
mod join;
mod latch;
mod pool;
mod scope;
mod shared;
mod sleepers;
mod worker;

pub use join::join;
pub use pool::Pool;
pub use scope::Scope;
pub use worker::Worker;
