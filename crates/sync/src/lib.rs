#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", loom, shuttle)), no_std)]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod cache_padded;
mod drop_each;
#[cfg(any(feature = "std", loom, shuttle))]
mod lock;
#[cfg(any(feature = "std", loom, shuttle))]
pub mod panic;
#[cfg(not(loom))]
mod plain_cell;
#[cfg(target_has_atomic = "64")]
mod refused;
#[cfg(filch_tsan)]
mod watched;

#[cfg(not(any(loom, shuttle)))]
#[path = "std.rs"]
mod imp;

#[cfg(any(loom, shuttle))]
#[path = "model.rs"]
mod imp;

pub use cache_padded::CachePadded;
pub use drop_each::drop_each;
pub use imp::*;
#[cfg(any(feature = "std", loom, shuttle))]
pub use lock::lock;
