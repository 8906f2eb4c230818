#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod cache_padded;
mod drop_each;
#[cfg(feature = "std")]
mod lock;
#[cfg(feature = "std")]
pub mod panic;
#[cfg(not(all(loom, feature = "loom")))]
mod plain_cell;
#[cfg(all(loom, feature = "loom"))]
#[doc(hidden)]
pub mod recorded;
#[cfg(target_has_atomic = "64")]
mod refused;

#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
#[path = "std.rs"]
mod imp;

#[cfg(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))]
#[path = "model.rs"]
mod imp;

pub use cache_padded::CachePadded;
pub use drop_each::drop_each;
pub use imp::*;
#[cfg(feature = "std")]
pub use lock::lock;
