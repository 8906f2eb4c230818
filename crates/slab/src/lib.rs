#![doc = include_str!("../README.md")]
#![no_std]
extern crate alloc;

mod tenancy;

use core::marker::PhantomData;

pub use tenancy::{Gone, Tenancy, Unpin};

/// stub
#[derive(Debug)]
pub struct Slab<T>(PhantomData<fn() -> T>);

/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlabFull;

impl<T> Slab<T> {
    /// `make(index)` constructs each slot's value once, when its page is allocated.
    pub fn new(_make: fn(u32) -> T) -> Self {
        todo!()
    }
    /// Limit on the number of slots.
    pub fn with_limit(_make: fn(u32) -> T, _limit: u32) -> Self {
        todo!()
    }
    /// Takes a free slot.
    pub fn allocate(&self) -> Result<u32, SlabFull> {
        todo!()
    }
    /// Gives a slot back.
    pub fn release(&self, _index: u32) {
        todo!()
    }
    /// The value of any slot that was ever allocated.
    pub fn get(&self, _index: u32) -> Option<&T> {
        todo!()
    }
    /// How many slots were ever allocated (high-water mark): valid indices are below.
    pub fn high_water(&self) -> u32 {
        todo!()
    }
}
