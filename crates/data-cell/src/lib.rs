#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod cell;
mod lock;
mod lock_error;
mod lock_set;
mod locked;
mod word;

pub use cell::DataCell;
pub use lock::{Access, DataLock, Lockable};
pub use lock_error::LockError;
pub use lock_set::{Conflict, LockSet};
pub use locked::{Locked, Refused};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
