//! The specification of a FIFO queue.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;

use crate::specification::Specification;

/// A FIFO queue of any size, open or closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fifo<T> {
    items: VecDeque<T>,
    /// Items that were accepted, but are not in the queue yet.
    admitted: Vec<T>,
    closed: bool,
}

/// The operations of a [`Fifo`], each with its answer.
///
/// Pushes to a queue that can be closed have one moment ([`Push`](Self::Push)) or two
/// ([`Admit`](Self::Admit), then [`Enter`](Self::Enter)). With one, all accepted items are there
/// when the close has returned. With two, an accepted item may come in after the close, and even
/// after somebody has found the closed queue empty, but before its own push returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FifoOperation<T> {
    /// The item was accepted, and is in the queue.
    Push(T),
    /// The item was accepted: the queue was open.
    Admit(T),
    /// An accepted item is in the queue.
    Enter(T),
    /// A push was refused: the queue was closed.
    Refused(T),
    /// The oldest items, at most `max`, at one moment. None, if the queue was empty.
    Take {
        /// The limit.
        max: usize,
        /// The answer, oldest first.
        items: Vec<T>,
    },
    /// All items, at one moment.
    Drain(Vec<T>),
    /// Refuses pushes from now on.
    Close,
}

impl<T> FifoOperation<T> {
    /// Makes a take of at most one item.
    pub fn pop(answer: Option<T>) -> Self {
        Self::Take {
            max: 1,
            items: answer.into_iter().collect(),
        }
    }
}

impl<T> Fifo<T> {
    /// Makes an empty, open queue.
    pub fn new() -> Self {
        Self {
            items: VecDeque::new(),
            admitted: Vec::new(),
            closed: false,
        }
    }
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Eq> Fifo<T> {
    fn admit(&mut self, item: &T) -> bool {
        self.admitted.push(item.clone());
        !self.closed
    }

    fn enter(&mut self, item: &T) -> bool {
        let place = self.admitted.iter().position(|admitted| admitted == item);
        self.items
            .extend(place.map(|place| self.admitted.remove(place)));
        place.is_some()
    }
}

impl<T: Clone + Eq + Hash + fmt::Debug> Specification for Fifo<T> {
    type Operation = FifoOperation<T>;

    fn apply(&mut self, operation: &FifoOperation<T>) -> bool {
        match operation {
            FifoOperation::Push(item) => self.admit(item) && self.enter(item),
            FifoOperation::Admit(item) => self.admit(item),
            FifoOperation::Enter(item) => self.enter(item),
            FifoOperation::Refused(_) => self.closed,
            FifoOperation::Take { items, .. } if items.is_empty() => self.items.is_empty(),
            FifoOperation::Take { max, items } => {
                items.len() <= *max
                    && items
                        .iter()
                        .all(|item| self.items.pop_front().as_ref() == Some(item))
            }
            FifoOperation::Drain(items) => self.items.drain(..).eq(items.iter().cloned()),
            FifoOperation::Close => {
                self.closed = true;
                true
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Display for FifoOperation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Push(item) => write!(f, "push({item:?})"),
            Self::Admit(item) => write!(f, "push({item:?}) is accepted"),
            Self::Enter(item) => write!(f, "{item:?} comes in"),
            Self::Refused(item) => write!(f, "push({item:?}) = closed"),
            Self::Take { max, items } => write!(f, "take({max}) = {items:?}"),
            Self::Drain(items) => write!(f, "drain() = {items:?}"),
            Self::Close => f.write_str("close()"),
        }
    }
}
