#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod block;
mod claim;
mod injector;
mod patience;
mod position;
mod push;
mod reserved;

pub use injector::Injector;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
