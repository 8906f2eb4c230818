//! The specification of a work-stealing deque.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;

use crate::specification::Specification;

/// A work-stealing deque: the owner's end is a stack, the thieves' end gives the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Deque<T> {
    /// The items, oldest first.
    items: VecDeque<T>,
}

/// The operations of a [`Deque`], each with its answer.
///
/// A thief that lost a race has no answer, so there is no operation for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DequeOperation<T> {
    /// A push of the owner.
    Push(T),
    /// A pop of the owner: the youngest item, or nothing if there was none.
    Pop(Option<T>),
    /// A thief's steal: the oldest item, or nothing if there was none.
    Steal(Option<T>),
    /// A thief's steal of the oldest items at one moment, at most `limit` and half of all (rounded
    /// up); empty if there was none.
    StealHalf {
        /// The limit.
        limit: usize,
        /// The answer, oldest first.
        items: Vec<T>,
    },
}

impl<T> Deque<T> {
    /// Makes an empty deque.
    pub fn new() -> Self {
        Self {
            items: VecDeque::new(),
        }
    }
}

impl<T> Default for Deque<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Eq + Hash + fmt::Debug> Specification for Deque<T> {
    type Operation = DequeOperation<T>;

    fn apply(&mut self, operation: &DequeOperation<T>) -> bool {
        match operation {
            DequeOperation::Push(item) => {
                self.items.push_back(item.clone());
                true
            }
            DequeOperation::Pop(answer) => self.items.pop_back() == *answer,
            DequeOperation::Steal(answer) => self.items.pop_front() == *answer,
            DequeOperation::StealHalf { items, .. } if items.is_empty() => self.items.is_empty(),
            DequeOperation::StealHalf { limit, items } => {
                let max = self.items.len().div_ceil(2).min(*limit);
                items.len() <= max
                    && items
                        .iter()
                        .all(|item| self.items.pop_front().as_ref() == Some(item))
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Display for DequeOperation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Push(item) => write!(f, "push({item:?})"),
            Self::Pop(answer) => write!(f, "pop() = {answer:?}"),
            Self::Steal(answer) => write!(f, "steal() = {answer:?}"),
            Self::StealHalf { limit, items } => write!(f, "steal_half({limit}) = {items:?}"),
        }
    }
}
