//! The trait of tasks.

/// A value to send to workers: cloned for each that lists it. Implemented for all fitting types.
///
/// A task of at most two words, aligned like them, travels without an allocation.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}
