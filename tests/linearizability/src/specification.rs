//! The sequential specification of an object.

use std::fmt;
use std::hash::Hash;

/// The behaviour of an object whose operations come one after the other. The value is the object's
/// state.
pub trait Specification: Clone + Eq + Hash + fmt::Debug {
    /// A call with its arguments *and its answer*. Counterexamples print it by `Display`.
    type Operation: fmt::Display;

    /// Applies the operation, and returns true, if it can happen now with this very answer. If not,
    /// the state may be left in any shape, and is thrown away.
    fn apply(&mut self, operation: &Self::Operation) -> bool;
}
