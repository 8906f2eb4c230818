#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod block;
mod injector;
mod mark;
mod pop;
mod push;

pub use filch_slab::AllocateError;
pub use injector::Injector;
pub use mark::Mark;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
