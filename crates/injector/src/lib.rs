#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod backoff;
mod block;
mod claim;
mod injector;
mod mark;
mod position;
mod push;
mod reserved;

pub use filch_slab::AllocateError;
pub use injector::Injector;
pub use mark::Mark;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
