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
    room: Room<T>,
    closed: bool,
}

/// When a queue is full.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Room<T> {
    Endless,
    /// With this many items.
    Items(usize),
    /// With this many places in use.
    Places {
        capacity: usize,
        /// In the order of acceptance: whose it is, and whether it has been given back.
        used: VecDeque<(T, bool)>,
    },
}

/// What can be done to a [`Fifo`], each with its answer.
///
/// Pushes to a queue that can be closed have one moment ([`Push`](Self::Push)) or two
/// ([`Admit`](Self::Admit), then [`Enter`](Self::Enter)). With one, everything that was accepted is
/// there when the close has returned. With two, an accepted item may come in after the close, and
/// even after somebody has found the closed queue empty; but still before its own push returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FifoOperation<T> {
    /// It was accepted, and is in the queue.
    Push(T),
    /// It was accepted: the queue was open.
    Admit(T),
    /// What was accepted is in the queue.
    Enter(T),
    /// The place of what was taken is given back; only if [`places`](Fifo::places) count.
    Release(T),
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
            room: Room::Endless,
            closed: false,
        }
    }

    /// Empty and open, with room for `capacity` items: full exactly if so many are in it or
    /// accepted.
    pub fn bounded(capacity: usize) -> Self {
        Self {
            room: Room::Items(capacity),
            ..Self::unbounded()
        }
    }

    /// Empty and open, with `capacity` places, each in use from the acceptance of an item until it
    /// *and all that were accepted before it* have been taken and released: a ring, whose oldest
    /// place is held by a slow producer, is full while it has few items.
    pub fn places(capacity: usize) -> Self {
        Self {
            room: Room::Places {
                capacity,
                used: VecDeque::new(),
            },
            ..Self::unbounded()
        }
    }

    fn is_full(&self) -> bool {
        match &self.room {
            Room::Endless => false,
            Room::Items(capacity) => self.items.len() + self.admitted.len() == *capacity,
            Room::Places { capacity, used } => used.len() == *capacity,
        }
    }
}

impl<T: Clone + Eq> Fifo<T> {
    fn admit(&mut self, item: &T) -> bool {
        let fits = !self.closed && !self.is_full();
        self.admitted.push(item.clone());
        if let Room::Places { used, .. } = &mut self.room {
            used.push_back((item.clone(), false));
        }
        fits
    }

    fn enter(&mut self, item: &T) -> bool {
        let place = self.admitted.iter().position(|admitted| admitted == item);
        self.items
            .extend(place.map(|place| self.admitted.remove(place)));
        place.is_some()
    }

    fn release(&mut self, item: &T) -> bool {
        let Room::Places { used, .. } = &mut self.room else {
            return false;
        };
        let place = used.iter_mut().find(|(user, _)| user == item);
        let was_used = place.is_some_and(|(_, released)| !std::mem::replace(released, true));
        while used.pop_front_if(|(_, released)| *released).is_some() {}
        was_used
    }
}

impl<T: Clone + Eq + Hash + fmt::Debug> Specification for Fifo<T> {
    type Operation = FifoOperation<T>;

    fn apply(&mut self, operation: &FifoOperation<T>) -> bool {
        match operation {
            FifoOperation::Push(item) => self.admit(item) && self.enter(item),
            FifoOperation::Admit(item) => self.admit(item),
            FifoOperation::Enter(item) => self.enter(item),
            FifoOperation::Release(item) => self.release(item),
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
            Self::Release(item) => write!(f, "the place of {item:?} is released"),
            Self::Full(item) => write!(f, "push({item:?}) = full"),
            Self::Refused(item) => write!(f, "push({item:?}) = closed"),
            Self::Take { most, items } => write!(f, "take({most}) = {items:?}"),
            Self::Drain(items) => write!(f, "drain() = {items:?}"),
            Self::Close => f.write_str("close()"),
        }
    }
}
