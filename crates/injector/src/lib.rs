#![doc = include_str!("../README.md")]
#![no_std]
extern crate alloc;

use core::marker::PhantomData;
use filch_deque::Worker;

/// stub
#[derive(Debug)]
pub struct Injector<T>(PhantomData<fn() -> T>);

impl<T: Send> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> Injector<T> {
    /// Empty.
    pub fn new() -> Self {
        todo!()
    }
    /// Adds at the back. Lock-free.
    pub fn push(&self, _item: T) {
        todo!()
    }
    /// Takes from the front. Lock-free.
    pub fn pop(&self) -> Option<T> {
        todo!()
    }
    /// Takes the oldest item, and up to `more` following ones into `into` (pushed in FIFO order), by one claim.
    pub fn pop_batch_into(&self, _into: &Worker<T>, _more: usize) -> Option<T> {
        todo!()
    }
    /// A snapshot.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// A snapshot.
    pub fn len(&self) -> usize {
        todo!()
    }
}
