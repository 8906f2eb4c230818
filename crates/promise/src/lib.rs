#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[cfg(not(target_os = "none"))]
mod answer;
mod promise;
mod take_cell;

#[cfg(not(target_os = "none"))]
pub use answer::{Answer, Reply, answer};
pub use promise::{Prepared, Promised, Resolver, promise};
pub use take_cell::TakeCell;
