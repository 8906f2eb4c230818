//! What a sequential object does.

use std::fmt;
use std::hash::Hash;

/// What an object does when its operations come one after the other. The value is the object's
/// state.
pub trait Specification: Clone + Eq + Hash + fmt::Debug {
    /// A call with its arguments *and its answer*. `Display` is how a counterexample prints it.
    type Operation: fmt::Display;

    /// Whether the operation can happen now, with this very answer. If so, it does; if not, the
    /// state may be left in any shape, and is thrown away.
    fn apply(&mut self, operation: &Self::Operation) -> bool;
}
