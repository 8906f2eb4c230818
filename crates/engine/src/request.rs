//! A request of a function: a type of data, to read or to write.

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

    /// Returns whether both cannot be granted at once.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        self.id == other.id && (self.writes() || other.writes())
    }

    /// Returns whether it is for a change.
    pub(crate) fn writes(&self) -> bool {
        self.access == Access::Write
    }

    /// Returns two of these requests that cannot be granted at once.
    pub(crate) fn conflict(requests: &[Option<Self>]) -> Option<(Self, Self)> {
        let listed: Vec<_> = requests.iter().flatten().copied().collect();
        listed.iter().enumerate().find_map(|(position, first)| {
            let mut behind = listed[position + 1..].iter();
            let second = behind.find(|second| first.excludes(second))?;
            Some((*first, *second))
        })
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
