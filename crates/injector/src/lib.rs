#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod batch;
mod block;
mod injector;
mod position;

pub use injector::Injector;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
