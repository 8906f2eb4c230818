#![doc = include_str!("../README.md")]
#![no_std]
extern crate alloc;

use core::marker::PhantomData;

/// stub: the shared core, for embedding in a larger object that proves by other means who consumes.
#[derive(Debug)]
pub struct EventQueue<T>(PhantomData<fn() -> T>);

/// stub
#[derive(Debug)]
pub struct Closed<T>(pub T);

impl<T: Send> Default for EventQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> EventQueue<T> {
    /// Empty and open; allocates nothing.
    pub fn new() -> Self {
        todo!()
    }
    /// Any thread.
    pub fn push(&self, _event: T) -> Result<(), Closed<T>> {
        todo!()
    }
    /// Moves everything that was pushed before the call to `sink`, per producer in FIFO order; returns how many.
    ///
    /// # Safety
    /// The caller is the only consumer until it returns (`drain`, `pop`, `close`, `reopen`).
    pub unsafe fn drain(&self, _sink: impl FnMut(T)) -> usize {
        todo!()
    }
    /// # Safety
    /// As drain.
    pub unsafe fn pop(&self) -> Option<T> {
        todo!()
    }
    /// Later pushes are refused; what is there can still be drained.
    pub fn close(&self) {
        todo!()
    }
    /// Opens again after close and a drain of everything.
    ///
    /// # Safety
    /// As drain, and no `push` is in flight (the caller knows that nobody else has access).
    pub unsafe fn reopen(&self) {
        todo!()
    }
    /// A snapshot.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
}

/// stub: creates the two ends.
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    todo!()
}

/// stub: Clone, Send, Sync
#[derive(Debug)]
pub struct Sender<T>(PhantomData<T>);
/// stub: Send, not Sync
#[derive(Debug)]
pub struct Receiver<T>(PhantomData<T>);
