#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod promise;

pub use promise::{Prepared, Promised, Resolver, promise};
