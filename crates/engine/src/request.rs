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
        self.id == other.id && (self.writes() || other.writes())
    }

    /// Whether what it is for is changed.
    pub(crate) fn writes(&self) -> bool {
        self.access == Access::Write
    }

    /// Two of these that cannot be had at once.
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
