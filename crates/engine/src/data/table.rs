//! The data that a worker has listed, by type.

use std::any::{Any, TypeId};
use std::rc::Rc;
use std::sync::Arc;

use crate::data::cells::SharedCell;

/// The way in which a worker gets data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Created and destroyed here; others may use it.
    Owner,
    /// No other worker uses it.
    Local,
    /// A worker of the same scheduler owns it.
    Group,
    /// Another worker owns it, and this one only reads it.
    Shared,
}

/// Data in a worker's list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) role: Role,
}

/// The place of the data.
#[derive(Clone)]
pub(crate) enum Place {
    Shared(Arc<dyn SharedCell>),
    /// An `UnsafeCell`, for the worker, which must not use it twice at once.
    Local(Rc<dyn Any>),
}

impl Place {
    pub(crate) fn pointer(&self) -> *mut () {
        match self {
            Self::Shared(cell) => cell.pointer(),
            Self::Local(cell) => Rc::as_ptr(cell).cast_mut().cast(),
        }
    }
}

/// The part of its list that a worker has at present.
#[derive(Default)]
pub(crate) struct Table(Vec<(Listed, Place)>);

impl Table {
    pub(crate) fn insert(&mut self, listed: Listed, place: Place) {
        self.0.push((listed, place));
    }

    pub(crate) fn get(&self, id: TypeId) -> Option<&(Listed, Place)> {
        self.0.iter().find(|(listed, _)| listed.id == id)
    }

    /// Takes out the last data with that role.
    pub(crate) fn take(&mut self, role: Role) -> Option<(Listed, Place)> {
        let last = self.0.iter().rposition(|(listed, _)| listed.role == role)?;
        Some(self.0.remove(last))
    }

    /// Lists the data with a lock, in the order in which it came.
    fn cells(&self) -> impl DoubleEndedIterator<Item = (&Listed, &Arc<dyn SharedCell>)> {
        self.0.iter().filter_map(|(listed, place)| match place {
            Place::Shared(cell) => Some((listed, cell)),
            Place::Local(_) => None,
        })
    }

    /// Lists the data that it owns, in the order in which it came.
    pub(crate) fn owned(&self) -> impl DoubleEndedIterator<Item = (&Listed, &Arc<dyn SharedCell>)> {
        self.cells()
            .filter(|(listed, _)| listed.role == Role::Owner)
    }

    /// Returns the first whose owner has destroyed it, or will. (An owner that asks ends already.)
    pub(crate) fn ending(&self) -> Option<&'static str> {
        let (listed, _) = self.cells().find(|(_, cell)| cell.is_ending())?;
        Some(listed.name)
    }
}
