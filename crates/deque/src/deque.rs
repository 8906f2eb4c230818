//! The words that the owner and its thieves share.

use core::marker::PhantomData;
use core::ptr::NonNull;

use filch_sync::CachePadded;
use filch_sync::asymmetric::light;
use filch_sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::Steal;
use crate::ring::{Ring, Slots};
use crate::top::Top;

/// Added to the first position, so that none is [`CLOSED`], or below a stop that was moved away.
const FIRST_LAP: u64 = 1 << 32;

/// The `bottom` of a deque whose ring is being replaced: it offers nothing, and thieves retry.
pub(crate) const CLOSED: u64 = 0;

/// The words that the owner and its thieves share, and every access to them. Steps are cited as
/// ALGORITHM.md numbers them.
///
/// | word | written by | read by |
/// |---|---|---|
/// | `top` | both, by RMW only | all |
/// | `bottom` | the owner | all |
/// | `limit`, `floor` | both | the owner |
/// | `ring` | the owner | thieves |
///
/// Items from `top.index` to `bottom` are in the deque. While it is shared, thieves may claim them.
/// `bottom` and `ring` hold for one tag: see [`observe`](Self::observe).
pub(crate) struct Deque<T> {
    top: CachePadded<AtomicU64>,
    /// The next push's position, on a line of its own: the owner writes it in each call.
    bottom: CachePadded<AtomicU64>,
    /// The words that the owner reads in each call, and that seldom change.
    seldom: CachePadded<Seldom<T>>,
    // An `AtomicPtr` is Send and Sync whatever it points to. This deque is so only if its items may
    // change threads.
    items: PhantomData<*mut T>,
}

/// The rarely written words. The stops, `limit` and `floor`, bound the owner's short way: a push
/// that ends before `limit` finds room for the next one, and a pop from `floor` on finds an item
/// that no thief may take. A thief that asks moves both away, and the owner's next call goes the
/// long way. That is safe at any time: in the long way the owner goes by [`Top`] alone.
struct Seldom<T> {
    limit: AtomicU64,
    floor: AtomicU64,
    ring: AtomicPtr<Ring<T>>,
}

/// Below every position.
pub(crate) const NO_LIMIT: u64 = 0;

/// Above every position.
pub(crate) const NO_FLOOR: u64 = u64::MAX;

// SAFETY: items are handed from thread to thread (`T: Send`), each to one thread, by the protocol
// of ALGORITHM.md.
unsafe impl<T: Send> Send for Deque<T> {}
// SAFETY: as above; no reference to an item is ever shared, so `T: Sync` is not needed.
unsafe impl<T: Send> Sync for Deque<T> {}

/// A thief's view: `count` items, at least one, from the position `first` on, in `ring`, as long as
/// the word [is](Deque::is_at) `top`.
pub(crate) struct Offer<T> {
    pub(crate) top: Top,
    pub(crate) first: u64,
    pub(crate) count: u32,
    ring: NonNull<Ring<T>>,
}

impl<T> Deque<T> {
    /// An empty deque, shared, whose tag and index begin at `start`, with `ring`, whose claims
    /// begin there too.
    pub(crate) fn new(start: u32, ring: NonNull<Ring<T>>) -> Self {
        Self {
            top: CachePadded::new(AtomicU64::new(Top::new(start).0)),
            bottom: CachePadded::new(AtomicU64::new(FIRST_LAP | u64::from(start))),
            seldom: CachePadded::new(Seldom {
                limit: AtomicU64::new(NO_LIMIT),
                floor: AtomicU64::new(NO_FLOOR),
                ring: AtomicPtr::new(ring.as_ptr()),
            }),
            items: PhantomData,
        }
    }

    /// Sets the stops: by the owner before the exchange that begins an epoch in which they hold, or
    /// in a deque that is always shared.
    pub(crate) fn set_stops(&self, limit: u64, floor: u64) {
        // ORDERING: Relaxed, both. The owner's stores: its exchange that follows releases them. The
        // stores of a thief, which move the stops away, come after these, as it has acquired the
        // word of the epoch; its heavy fence orders them before its look at `bottom`.
        self.seldom.floor.store(floor, Ordering::Relaxed);
        self.seldom.limit.store(limit, Ordering::Relaxed);
    }

    /// Makes the owner go the long way.
    pub(crate) fn move_stops_away(&self) {
        self.set_stops(NO_LIMIT, NO_FLOOR);
    }

    /// Returns the stops. For models, while no thief is about.
    #[cfg(loom)]
    pub(crate) fn stops(&self) -> (u64, u64) {
        let Seldom { limit, floor, .. } = &*self.seldom;
        // ORDERING: Relaxed, both: the caller has joined the thieves.
        (limit.load(Ordering::Relaxed), floor.load(Ordering::Relaxed))
    }

    // For the owner.

    /// Returns the position of the next push. Owner only: its own value.
    #[inline(always)]
    pub(crate) fn bottom(&self) -> u64 {
        // ORDERING: Relaxed: the owner alone writes it.
        self.bottom.load(Ordering::Relaxed)
    }

    /// Ends the deque at `bottom`. Owner only.
    #[inline(always)]
    pub(crate) fn set_bottom(&self, bottom: u64) {
        // ORDERING: Release, for the Acquire of `bottom` in `observe`. A thief that reads it sees
        // the items before it written, and every earlier bump: with an older tag its claim fails. A
        // lowering store needs it too: a thief may read it instead of the raising one before, whose
        // release sequence a plain store does not continue.
        self.bottom.store(bottom, Ordering::Release);
    }

    /// Adds what was written before `bottom` to the deque: step 1. `false`: the owner has to look
    /// further. Owner only.
    #[inline(always)]
    pub(crate) fn extend(&self, bottom: u64) -> bool {
        self.set_bottom(bottom);
        // ORDERING: Relaxed, behind the partner of the heavy fence that a thief passes between its
        // `move_stops_away` and its look at `bottom`.
        light();
        bottom < self.seldom.limit.load(Ordering::Relaxed)
    }

    /// Takes what lies from `last` on off the deque: step 2. `false`: a thief may have it, or may
    /// be about to take it. Owner only.
    #[inline(always)]
    pub(crate) fn retract(&self, last: u64) -> bool {
        self.set_bottom(last);
        // ORDERING: as in `extend`.
        light();
        last >= self.seldom.floor.load(Ordering::Relaxed)
    }

    /// Starts the next epoch: every claim and revocation in flight will fail. Returns the word
    /// before. Owner only.
    #[inline]
    pub(crate) fn bump(&self) -> Top {
        // ORDERING: Release, for the Acquire of `top` in `observe`: a thief that reads the new tag
        // (from here or from a claim after it) cannot pair it with an older `bottom`, and claim an
        // item that the owner takes. No Acquire: the result is a position in the modification order
        // of `top`, which alone decides each item's taker.
        Top(self.top.fetch_add(Top::NEXT_TAG, Ordering::Release))
    }

    /// The word, perhaps not the newest. For the owner the tag is.
    #[inline]
    pub(crate) fn top(&self) -> Top {
        // ORDERING: Relaxed. The index only grows, so an old value errs on the safe side. Where the
        // owner compares it with `Ring::finished`, the Acquire there has ordered the finished
        // claims before this load.
        Top(self.top.load(Ordering::Relaxed))
    }

    /// Puts the deque in reach of all: step 3. The epoch stays: nothing that a thief has seen is
    /// wrong now. Owner only, with its stops away.
    pub(crate) fn share(&self) {
        // ORDERING: Release, for the Acquire of `top` in `observe`: `bottom`. No Acquire: `answer`
        // follows where there is something to see.
        self.top.fetch_or(Top::SHARED, Ordering::Release);
    }

    /// Takes down what thieves have asked, as there is something for them. Returns whether one had.
    /// Owner only.
    pub(crate) fn answer(&self) -> bool {
        // ORDERING: Release, for the Acquire in `ask`: a thief that asks later sees what is there.
        // Acquire, for the Release there: what a thief did before it asked. An RMW even if nobody
        // has asked, since then, too, one of the two comes first.
        self.top.fetch_and(!Top::ASKED, Ordering::AcqRel) & Top::ASKED != 0
    }

    /// Begins an epoch in which the deque is the owner's, unless something has changed since `top`,
    /// when nobody had asked: step 4. The stops of that epoch are set. Owner only.
    pub(crate) fn bias(&self, top: Top) -> bool {
        // ORDERING: Release, for the Acquire in `ask`: the stops, which a thief that asks in this
        // epoch moves away after the owner has set them. Relaxed on failure: nothing is done with
        // the value.
        let biased = top.next_biased();
        self.top
            .compare_exchange(top.0, biased.0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Replaces the ring. Owner only, while the deque is closed.
    pub(crate) fn set_ring(&self, ring: NonNull<Ring<T>>) {
        // ORDERING: Release, for the Acquire of `ring` in `observe`: a thief that reads the new
        // ring sees the bump before it, so a claim with an older tag fails and is never counted on
        // the wrong ring. That loom cannot show, as it lets no thread read a store that comes later
        // than what it has seen; the kernel `ring-not-newer` shows it.
        self.seldom.ring.store(ring.as_ptr(), Ordering::Release);
    }

    // For thieves.

    /// Looks for items. The owner of a biased deque is asked, unless one thief has done so.
    ///
    /// The three loads are in this order, each Acquire, so that a claim which succeeds has seen
    /// values of the epoch of its tag, none older and none newer.
    #[inline]
    pub(crate) fn observe(&self) -> Steal<Offer<T>> {
        // ORDERING: Acquire, for the Release of `bump`, `bias` and `share`: see there. For the
        // Release of `revoke`: what its heavy fence made visible.
        let top = Top(self.top.load(Ordering::Acquire));
        if !top.is_shared() {
            if top.is_biased() {
                self.ask();
            }
            return Steal::Empty;
        }
        // ORDERING: Acquire, for the Release of `set_bottom`: see there.
        let bottom = self.bottom.load(Ordering::Acquire);
        if bottom == CLOSED {
            return Steal::Retry;
        }
        let count = top.until(bottom);
        // Below zero while the owner finds out that what it would pop is gone.
        if count <= 0 {
            return Steal::Empty;
        }
        let count = count as u32;
        // ORDERING: Acquire, for the Release of `set_ring`: see there; loom cannot show it either.
        let ring = self.seldom.ring.load(Ordering::Acquire);
        Steal::Success(Offer {
            top,
            first: bottom - u64::from(count),
            count,
            // SAFETY: `new` and `set_ring` store what was a `NonNull`.
            ring: unsafe { NonNull::new_unchecked(ring) },
        })
    }

    /// Returns the word, and the number of items, as far as the calling thread can know; `None`
    /// while the ring is being replaced. Counts the items of a biased deque, too.
    pub(crate) fn look(&self) -> (Top, Option<u32>) {
        // ORDERING: Acquire, for what it says of `bottom`: see `observe`.
        let top = Top(self.top.load(Ordering::Acquire));
        // ORDERING: Relaxed: a number. A sleeper's fence is before the load of `top`.
        let bottom = self.bottom.load(Ordering::Relaxed);
        let count = (bottom != CLOSED).then(|| top.until(bottom).max(0) as u32);
        (top, count)
    }

    /// Returns whether nothing has changed since the word was this.
    pub(crate) fn is_at(&self, top: Top) -> bool {
        // ORDERING: Relaxed: advice only, an exchange decides.
        self.top.load(Ordering::Relaxed) == top.0
    }

    /// Claims the first `count` items of `offer` by one compare-and-swap, unless the owner or
    /// another thief came first: step 5. Returns the oldest item; `move_others` is to move the
    /// others out, from that index on.
    ///
    /// The ring is kept for them until it returns: it may neither allocate, nor panic, nor call
    /// user code.
    #[inline]
    pub(crate) fn claim(
        &self,
        offer: &Offer<T>,
        count: u32,
        move_others: impl FnOnce(Slots<T>, u32),
    ) -> Option<T> {
        debug_assert!((1..=offer.count).contains(&count));
        // ORDERING: Relaxed, both: it publishes nothing, and an RMW continues the release sequence
        // of the bump. A thief that sees the claim may find an older `bottom`, and nothing in
        // reach: it has not seen the push either. Claimed items came with `bottom`.
        self.top
            .compare_exchange(
                offer.top.0,
                offer.top.advance(count).0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .ok()?;
        let first = offer.first as u32;
        // SAFETY: the deque was shared, and the tag held until the exchange, so `bottom` and `ring`
        // are of this epoch: the items were written before the store of `bottom` that `observe`
        // acquired, no bump that could return them to the owner came between, and the ring lives
        // until its `done` counts them. Each index is claimed once.
        let slots = unsafe { offer.ring.as_ref() }.slots();
        // SAFETY: as above.
        let oldest = unsafe { slots.take(first) };
        move_others(slots, first.wrapping_add(1));
        // SAFETY: they have been moved out, and this reports them once.
        unsafe { Ring::finish(offer.ring, count) };
        Some(oldest)
    }

    /// Makes the owner's next call share what it has, and returns the word as it is now: step 6.
    /// Whatever the caller did before is known to the owner when it has shared.
    pub(crate) fn ask(&self) -> Top {
        // ORDERING: Acquire, for the Release of `bias`: the stores below come after the owner's.
        // And for those of `share` and `answer`: what it has shared is there to see. Release, for
        // the Acquire in `answer`: what the caller did before.
        let top = Top(self.top.fetch_or(Top::ASKED, Ordering::AcqRel));
        if !top.is_shared() {
            self.move_stops_away();
        }
        Top(top.0 | Top::ASKED)
    }

    /// Shares the deque in the owner's place, unless that has done something about it since `asked`
    /// was the word: step 7.
    ///
    /// # Safety
    ///
    /// The caller has had `asked` from [`ask`](Self::ask), not shared, and has passed a heavy fence
    /// since.
    pub(crate) unsafe fn revoke(&self, asked: Top) {
        let shared = asked.0 | Top::SHARED;
        // ORDERING: Release on success, for the Acquire of `top` in `observe`: thieves that see it
        // shared come after the heavy fence, and so after all calls of the owner that went the
        // short way. Relaxed on failure: somebody has shared it, or the owner has begun an epoch.
        let _ = self
            .top
            .compare_exchange(asked.0, shared, Ordering::Release, Ordering::Relaxed);
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        let end = self.top().position(self.bottom());
        // ORDERING: Relaxed: every handle is gone, and the last reference count acquired what the
        // others did.
        let newest = self.seldom.ring.load(Ordering::Relaxed);
        // SAFETY: never null (`new`, `set_ring`); rings come from `allocate`; claims end before the
        // handles that made them, and the index of top is final.
        unsafe { Ring::free_all(NonNull::new_unchecked(newest), end as u32) };
    }
}
