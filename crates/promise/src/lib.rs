#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod promise;
mod stage;

pub use promise::{Prepared, Promised, Resolver, promise};
pub use stage::{Output, Stage};
