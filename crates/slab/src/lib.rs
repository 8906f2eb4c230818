#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod free_list;
mod page;
mod slab;
mod tenancy;

pub use slab::{Slab, SlabFull};
pub use tenancy::{Gone, Tenancy, Unpin};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
