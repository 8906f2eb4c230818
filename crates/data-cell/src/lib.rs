#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod cell;
mod lock;
mod lock_set;
mod lockable;
mod locked;
mod word;

pub use cell::DataCell;
pub use lock::{Access, DataLock, LockError};
pub use lock_set::{Conflict, LockSet};
pub use lockable::Lockable;
pub use locked::{Locked, Refused};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
