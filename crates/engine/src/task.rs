//! What can be sent to workers.

/// What can be sent to workers: cloned for each that lists its type. Implemented for all that can.
///
/// A task of two words or less, aligned as they are, travels without an allocation.
pub trait Task: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Task for T {}
