#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "filch-slab needs 64-bit atomics: an index and a tag of 32 bits each change together"
);

mod array;
mod free_list;
mod occupancy;
mod pages;
mod slab;

pub use occupancy::{Occupancy, Stale, Unpinned};
pub use slab::{AllocateError, Batch, Slab};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
