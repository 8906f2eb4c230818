#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod claim;
mod collect;
mod deque;
mod policy;
mod ring;
mod room;
mod steal;
mod stealer;
mod top;
mod worker;

pub use policy::{Lazy, Policy, Strict};
pub use steal::Steal;
pub use stealer::{Sole, Stealer};
pub use worker::Worker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
