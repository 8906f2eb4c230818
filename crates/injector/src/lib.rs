#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod backoff;
mod block;
mod blocks;
mod claim;
mod injector;
mod position;
mod push;
mod reserved;

pub use filch_slab::AllocateError;
pub use injector::Injector;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
