#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod cell;
mod lock;
mod lock_set;
mod word;

pub use cell::DataCell;
pub use lock::{Access, DataLock, Lockable};
pub use lock_set::{Conflict, LockSet, Locked, Refused};
pub use word::LockError;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
