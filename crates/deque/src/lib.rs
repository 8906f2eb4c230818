#![doc = include_str!("../README.md")]
#![no_std]
extern crate alloc;

use core::marker::PhantomData;

/// stub: the owner's end; Send, not Sync, not Clone
#[derive(Debug)]
pub struct Worker<T>(PhantomData<*mut T>);
// SAFETY: stub
unsafe impl<T: Send> Send for Worker<T> {}

/// stub: a thief's end; Send + Sync + Clone
#[derive(Debug)]
pub struct Stealer<T>(PhantomData<fn() -> T>);

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        todo!()
    }
}

/// stub
#[derive(Debug)]
#[must_use]
pub enum Steal<T> {
    /// Nothing there.
    Empty,
    /// Lost the race.
    Retry,
    /// Got it.
    Success(T),
}

/// stub
impl<T: Send> Default for Worker<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> Worker<T> {
    /// Empty.
    pub fn new() -> Self {
        todo!()
    }
    /// Initial capacity (rounded up to a power of two).
    pub fn with_capacity(_capacity: usize) -> Self {
        todo!()
    }
    /// Pushes at the bottom; grows.
    pub fn push(&self, _item: T) {
        todo!()
    }
    /// Pops at the bottom (LIFO).
    pub fn pop(&self) -> Option<T> {
        todo!()
    }
    /// Items there now, as the owner sees it.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// No item.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// A thief's end.
    pub fn stealer(&self) -> Stealer<T> {
        todo!()
    }
}

impl<T: Send> Stealer<T> {
    /// Takes the oldest item.
    pub fn steal(&self) -> Steal<T> {
        todo!()
    }
    /// Takes half (rounded up), at most `limit`, with one CAS; the oldest is returned, the rest goes into `into` in FIFO order.
    pub fn steal_half_into(&self, _into: &Worker<T>, _limit: usize) -> Steal<T> {
        todo!()
    }
    /// A snapshot: no public item.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
}
