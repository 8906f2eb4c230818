//! Where the owner of a biased deque has to stop, and look what thieves want.

use filch_sync::atomic::{AtomicU64, Ordering};

/// Two positions between which the owner goes the short way: a push that ends before `limit` finds
/// room for the next one, and a pop from `floor` on finds an item that no thief may take. So one
/// compare tells all that a push has to know, and one all that a pop has.
///
/// A thief that asks moves both away, and the owner's next call goes the long way. That is safe at
/// any time: in the long way the owner goes by [`Top`](crate::top::Top) alone.
///
/// | word | written by | read by |
/// |---|---|---|
/// | `limit`, `floor` | the owner, before the exchange that begins an epoch in which they hold; thieves, to move them away | the owner, by a light fence and a load |
pub(crate) struct Stops {
    pub(crate) limit: AtomicU64,
    pub(crate) floor: AtomicU64,
}

/// Below every position.
const NO_LIMIT: u64 = 0;

/// Above every position.
const NO_FLOOR: u64 = u64::MAX;

impl Stops {
    /// The owner has to go the long way.
    pub(crate) fn away() -> Self {
        Self {
            limit: AtomicU64::new(NO_LIMIT),
            floor: AtomicU64::new(NO_FLOOR),
        }
    }

    /// Sets both. Owner only.
    pub(crate) fn set(&self, limit: u64, floor: u64) {
        // ORDERING: Relaxed, both: the owner's exchange that follows releases them.
        self.floor.store(floor, Ordering::Relaxed);
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Sets where pushes stop, in a deque that is always shared. Owner only.
    pub(crate) fn set_limit(&self, limit: u64) {
        // ORDERING: Relaxed: nobody else reads it.
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Moves both away.
    pub(crate) fn move_away(&self) {
        // ORDERING: Relaxed: a thief's stores come after those of the owner that began the epoch,
        // which it has acquired by the word of that epoch; its heavy fence orders them before its
        // look at `bottom`. The owner's own come in its order.
        self.set(NO_LIMIT, NO_FLOOR);
    }
}
