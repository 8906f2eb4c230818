//! What a function asks for: a type, and whether it changes it.

use std::any::{TypeId, type_name};
use std::fmt;

use filch_data_cell::Access;

/// A piece of data that a function takes a reference to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) access: Access,
}

impl Request {
    pub(crate) fn of<T: 'static>(access: Access) -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            access,
        }
    }

    /// Whether both cannot be had at once.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        self.id == other.id && (self.access == Access::Write || other.access == Access::Write)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            Access::Read => write!(f, "&{}", self.name),
            Access::Write => write!(f, "&mut {}", self.name),
        }
    }
}
