#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod free_list;
mod occupancy;
mod page;
mod slab;

pub use occupancy::{Occupancy, Stale, Unpinned};
pub use slab::{Slab, SlabFull};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
