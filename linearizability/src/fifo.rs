use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;

use crate::Specification;

/// A FIFO queue: of any size or bounded, open or closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fifo<T> {
    items: VecDeque<T>,
    /// Accepted, and on their way.
    admitted: Vec<T>,
    capacity: Option<usize>,
    closed: bool,
}

/// What can be done to a [`Fifo`], each with its answer.
///
/// Pushes to a queue that can be closed have one moment ([`Push`](Self::Push)) or two
/// ([`Admit`](Self::Admit), then [`Enter`](Self::Enter)). With one, everything that was accepted is there when the close
/// has returned. With two, an accepted item may come in after the close, and even after somebody has found the closed queue
/// empty; but still before its own push returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FifoOperation<T> {
    /// It was accepted, and is in the queue.
    Push(T),
    /// It was accepted: the queue was open.
    Admit(T),
    /// What was accepted is in the queue.
    Enter(T),
    /// A push was refused: the queue was full.
    Full(T),
    /// A push was refused: the queue was closed.
    Refused(T),
    /// The oldest items, `most` of them at most, at one moment. None, if the queue was empty.
    Take {
        /// What was asked for.
        most: usize,
        /// The answer, oldest first.
        items: Vec<T>,
    },
    /// All items, at one moment.
    Drain(Vec<T>),
    /// Pushes are refused from now on.
    Close,
}

impl<T> FifoOperation<T> {
    /// A take of one item at most.
    pub fn pop(answer: Option<T>) -> Self {
        Self::Take {
            most: 1,
            items: answer.into_iter().collect(),
        }
    }
}

impl<T> Fifo<T> {
    /// Empty, open, and never full.
    pub fn unbounded() -> Self {
        Self {
            items: VecDeque::new(),
            admitted: Vec::new(),
            capacity: None,
            closed: false,
        }
    }

    /// Empty and open, with room for `capacity` items.
    pub fn bounded(capacity: usize) -> Self {
        Self {
            capacity: Some(capacity),
            ..Self::unbounded()
        }
    }

    /// Items that are on their way have their room.
    fn is_full(&self) -> bool {
        self.capacity == Some(self.items.len() + self.admitted.len())
    }
}

impl<T: Clone + Eq + Hash + fmt::Debug> Specification for Fifo<T> {
    type Operation = FifoOperation<T>;

    fn apply(&mut self, operation: &FifoOperation<T>) -> bool {
        match operation {
            FifoOperation::Push(item) => {
                let fits = !self.closed && !self.is_full();
                self.items.push_back(item.clone());
                fits
            }
            FifoOperation::Admit(item) => {
                let fits = !self.closed && !self.is_full();
                self.admitted.push(item.clone());
                fits
            }
            FifoOperation::Enter(item) => {
                let place = self.admitted.iter().position(|admitted| admitted == item);
                let item = place.map(|place| self.admitted.remove(place));
                self.items.extend(item);
                place.is_some()
            }
            FifoOperation::Full(_) => self.is_full(),
            FifoOperation::Refused(_) => self.closed,
            FifoOperation::Take { items, .. } if items.is_empty() => self.items.is_empty(),
            FifoOperation::Take { most, items } => {
                items.len() <= *most
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
            Self::Full(item) => write!(f, "push({item:?}) = full"),
            Self::Refused(item) => write!(f, "push({item:?}) = closed"),
            Self::Take { most, items } => write!(f, "take({most}) = {items:?}"),
            Self::Drain(items) => write!(f, "drain() = {items:?}"),
            Self::Close => f.write_str("close()"),
        }
    }
}
