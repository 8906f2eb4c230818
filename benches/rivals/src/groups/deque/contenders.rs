//! The contenders, behind one trait.

use std::cell::RefCell;

use filch_deque::{Stealer, Worker};
use filch_sync::asymmetric;

/// An owner's end, as the scenarios need it.
pub(super) trait Owner: Send + 'static {
    /// Empty, with room for `capacity` items.
    fn new(capacity: usize) -> Self;
    fn push(&self, item: u64);
    fn pop(&self) -> Option<u64>;
}

/// A deque with thieves, as the scenarios need it.
pub(super) trait Deque: Owner {
    type Stealer: Send;

    fn stealer(&self) -> Self::Stealer;
    /// Steals half of what is there, at most `limit`: one item comes back, the others go to
    /// `thief`.
    fn steal_half(stealer: &Self::Stealer, thief: &Self, limit: usize) -> Option<u64>;
    /// Puts every item in reach of thieves, if some are not.
    fn share(&self) {}
}

/// Every item is in reach of thieves, always; or a biased one is its owner's, until a thief asks.
pub(super) struct Filch<const IS_BIASED: bool>(Worker<u64>);
pub(super) struct Crossbeam<const IS_LIFO: bool>(crossbeam_deque::Worker<u64>);
pub(super) type Shared = Filch<false>;
pub(super) type Biased = Filch<true>;
pub(super) type CrossbeamLifo = Crossbeam<true>;
pub(super) type CrossbeamFifo = Crossbeam<false>;
pub(super) type St3Lifo = st3::lifo::Worker<u64>;
pub(super) type St3Fifo = st3::fifo::Worker<u64>;
/// A stack without thieves: the least cost of a push, a pop and the measuring around them.
pub(super) struct Unshared(RefCell<Vec<u64>>);

impl<const IS_BIASED: bool> Owner for Filch<IS_BIASED> {
    fn new(capacity: usize) -> Self {
        if !IS_BIASED {
            return Self(Worker::with_capacity(capacity));
        }
        asymmetric::register();
        Self(Worker::biased(capacity))
    }

    fn push(&self, item: u64) {
        self.0.push(item);
    }

    fn pop(&self) -> Option<u64> {
        self.0.pop()
    }
}

impl<const IS_BIASED: bool> Deque for Filch<IS_BIASED> {
    type Stealer = Stealer<u64>;

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    fn steal_half(stealer: &Self::Stealer, thief: &Self, limit: usize) -> Option<u64> {
        stealer.steal_half_into(&thief.0, limit).success()
    }

    fn share(&self) {
        self.0.share();
    }
}

impl<const IS_LIFO: bool> Owner for Crossbeam<IS_LIFO> {
    fn new(_capacity: usize) -> Self {
        // It has no capacity that stays: see the module above.
        Self(match IS_LIFO {
            true => crossbeam_deque::Worker::new_lifo(),
            false => crossbeam_deque::Worker::new_fifo(),
        })
    }

    fn push(&self, item: u64) {
        self.0.push(item);
    }

    fn pop(&self) -> Option<u64> {
        self.0.pop()
    }
}

impl<const IS_LIFO: bool> Deque for Crossbeam<IS_LIFO> {
    type Stealer = crossbeam_deque::Stealer<u64>;

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    fn steal_half(stealer: &Self::Stealer, thief: &Self, limit: usize) -> Option<u64> {
        // Without an explicit limit it stops at 32 items.
        let stolen = stealer.steal_batch_with_limit_and_pop(&thief.0, limit);
        stolen.success()
    }
}

macro_rules! st3 {
    ($worker:ty, $stealer:ty) => {
        impl Owner for $worker {
            fn new(capacity: usize) -> Self {
                Self::new(capacity)
            }

            fn push(&self, mut item: u64) {
                // There is room. But a slot is not free before a thief has left it, and the thief
                // may not be running.
                while let Err(refused) = self.push(item) {
                    item = refused;
                    std::thread::yield_now();
                }
            }

            fn pop(&self) -> Option<u64> {
                self.pop()
            }
        }

        impl Deque for $worker {
            type Stealer = $stealer;

            fn stealer(&self) -> Self::Stealer {
                self.stealer()
            }

            fn steal_half(stealer: &Self::Stealer, thief: &Self, limit: usize) -> Option<u64> {
                let half = |there: usize| there.div_ceil(2).min(limit);
                let stolen = stealer.steal_and_pop(thief, half);
                stolen.ok().map(|(item, _)| item)
            }
        }
    };
}

st3!(St3Lifo, st3::lifo::Stealer<u64>);
st3!(St3Fifo, st3::fifo::Stealer<u64>);

impl Owner for Unshared {
    fn new(capacity: usize) -> Self {
        Self(RefCell::new(Vec::with_capacity(capacity)))
    }

    fn push(&self, item: u64) {
        self.0.borrow_mut().push(item);
    }

    fn pop(&self) -> Option<u64> {
        self.0.borrow_mut().pop()
    }
}
