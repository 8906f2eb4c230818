//! The name of a child, and of one of its lives.

use std::fmt;
use std::sync::Arc;

/// The number of a child of one supervisor, in the order in which they were added. A child keeps it
/// when it is restarted; no other child gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildId(pub(crate) u64);

impl ChildId {
    pub(crate) const FIRST: Self = Self(0);
    pub(crate) const LAST: Self = Self(u64::MAX);
}

impl fmt::Display for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One life of a child, from its start to its end: a number that its supervisor never gives twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Life(pub(crate) u64);

/// The child of a request: `"ledger".into()`, or its [`ChildId`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildRef {
    /// The child of that name.
    Name(Arc<str>),
    /// The child with that id.
    Id(ChildId),
}

impl From<&str> for ChildRef {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<ChildId> for ChildRef {
    fn from(id: ChildId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for ChildRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Id(id) => id.fmt(f),
        }
    }
}
