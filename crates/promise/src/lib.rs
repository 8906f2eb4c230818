#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[cfg(not(target_os = "none"))]
mod answer;
mod promise;
mod rival;

#[cfg(not(target_os = "none"))]
pub use answer::{Answer, Reply, answer};
pub use promise::{Prepared, Promised, Resolver, promise};
pub use rival::{Rival, rivals, rivals_with};
