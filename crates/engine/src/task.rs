//! The trait of tasks.

/// What can be sent to workers: cloned for each that lists its type. Implemented for all that can.
///
/// A task of at most two words, aligned like them, travels without an allocation.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}
