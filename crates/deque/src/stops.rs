//! Where an owner that keeps items private has to stop, and look what thieves want.

use filch_sync::atomic::{AtomicU64, Ordering};

/// The `limit` of an owner that was asked: below every position.
const ASKED: u64 = 0;

/// The `limit` of an owner that keeps nothing private, and need not be asked: below every position,
/// too.
const NEVER: u64 = 1;

/// The `floor` of an owner that was asked: above every position.
const ASKED_FLOOR: u64 = u64::MAX;

/// Two positions between which the owner goes the short way: a push at a position before `limit`
/// and a pop at one from `floor` on concern private items, and no thief has asked for more. So one
/// compare tells all that a push has to know, and one all that a pop has.
///
/// A thief that asks moves both, and the owner's next call goes the long way.
///
/// | word | written by | read by |
/// |---|---|---|
/// | `limit` | the owner and thieves, by RMW where a request may be lost | both |
/// | `floor` | both | the owner |
///
/// Positions are indices that do not wrap: 64 bits, of which the lower 32 are the index. They begin
/// at 2³², so that none is [`ASKED`].
pub(crate) struct Stops {
    limit: AtomicU64,
    floor: AtomicU64,
}

impl Stops {
    /// As if a thief had asked. An owner that keeps nothing private leaves it at that, and thieves
    /// never write them.
    pub(crate) fn new(keeps_private: bool) -> Self {
        Self {
            limit: AtomicU64::new(if keeps_private { ASKED } else { NEVER }),
            floor: AtomicU64::new(ASKED_FLOOR),
        }
    }

    /// Whether a push at `position` may go the short way. Owner only.
    #[inline(always)]
    pub(crate) fn allow_push(&self, position: u64) -> bool {
        // ORDERING: Relaxed: the owner's own value, or a request. What answers a request is
        // published through `split`.
        position < self.limit.load(Ordering::Relaxed)
    }

    /// Whether the item at `position` may be popped the short way. Owner only.
    #[inline(always)]
    pub(crate) fn allow_pop(&self, position: u64) -> bool {
        // ORDERING: Relaxed: as in `allow_push`.
        position >= self.floor.load(Ordering::Relaxed)
    }

    /// Sets the stops. Whether a thief had asked: then what it had taken before is there to see.
    /// Owner only.
    pub(crate) fn set(&self, limit: u64, floor: u64) -> bool {
        // ORDERING: Relaxed: released by the exchange.
        self.floor.store(floor, Ordering::Relaxed);
        // ORDERING: Release, for the Acquire in `ask`: a thief that asks from here on moves this
        // `floor`, and not one before it (by argument: loom cannot show it, as its stores to one
        // word come in the order in which they are executed); and it sees what was published.
        // Acquire, for the Release there: the owner sees what thieves did before they asked, now or
        // earlier. An exchange goes on with the release sequences of those before.
        self.limit.swap(limit, Ordering::AcqRel) == ASKED
    }

    /// As if a thief had asked: the owner's next push is to answer. Owner only.
    pub(crate) fn set_asked(&self) {
        // ORDERING: Relaxed: as in `allow_push`.
        if self.limit.load(Ordering::Relaxed) != ASKED {
            // By an exchange: a store would hide a thief's from the owner's next one.
            self.set(ASKED, ASKED_FLOOR);
        }
    }

    /// Asks the owner for more. No request is lost.
    #[inline]
    pub(crate) fn ask(&self) {
        // ORDERING: Relaxed: of an owner that is never asked it is never written.
        if self.limit.load(Ordering::Relaxed) == NEVER {
            return;
        }
        // ORDERING: Acquire, for the Release in `set`: the store below comes after that of the
        // owner (by argument: see there), and what the owner had published is there to see.
        // Release, for the Acquire there: what the thief did before.
        self.limit.swap(ASKED, Ordering::AcqRel);
        // ORDERING: Relaxed: a request.
        self.floor.store(ASKED_FLOOR, Ordering::Relaxed);
    }
}
