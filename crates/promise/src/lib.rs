#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[cfg(not(target_os = "none"))]
mod answer;
mod promise;
mod take_once;

#[cfg(not(target_os = "none"))]
pub use answer::{Answer, Reply, answer};
pub use promise::{DeferredWake, Promised, Resolver, promise};
pub use take_once::{TakeOnce, take_once, take_once_with};
