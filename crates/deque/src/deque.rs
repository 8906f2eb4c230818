//! The words that the owner and its thieves share.

use core::marker::PhantomData;
use core::ptr::NonNull;

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::Steal;
use crate::claim::Claim;
use crate::ring::{MAX_CAPACITY, Ring};
use crate::stops::Stops;
use crate::top::Top;

/// How far before `bottom` the `split` of a closed deque lies: half of the index space.
const CLOSED: u32 = 1 << 31;

/// The words that the owner and its thieves share, and every access to them.
///
/// | word | written by | read by |
/// |---|---|---|
/// | `top` | thieves (claims) and the owner (bumps), by RMW only | all |
/// | `split` | the owner | thieves |
/// | `ring` | the owner | thieves |
/// | `stops` | a lazy owner, and thieves that ask | both |
///
/// Items `top.index..split` are public. `split` and `ring` hold for one tag: see
/// [`observe`](Self::observe).
pub(crate) struct Deque<T> {
    top: CachePadded<AtomicU64>,
    split: AtomicU32,
    ring: AtomicPtr<Ring<T>>,
    /// On the line of `split` on purpose: an owner that is asked writes both.
    pub(crate) stops: Stops,
    // An `AtomicPtr` is Send and Sync whatever it points to. This deque is so only if its items may
    // change threads.
    items: PhantomData<*mut T>,
}

// SAFETY: items are handed from thread to thread (`T: Send`), each to one thread, by the protocol
// of ALGORITHM.md.
unsafe impl<T: Send> Send for Deque<T> {}
// SAFETY: as above; no reference to an item is ever shared, so `T: Sync` is not needed.
unsafe impl<T: Send> Sync for Deque<T> {}

/// What a thief saw: `count` items from `top.index` on, in `ring`, as long as the tag holds.
pub(crate) struct Offer<T> {
    top: Top,
    count: u32,
    ring: NonNull<Ring<T>>,
}

impl<T> Offer<T> {
    /// The number of items: at least one, at most [`MAX_CAPACITY`].
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Where the oldest item lies.
    pub(crate) fn index(&self) -> u32 {
        self.top.index
    }

    /// The word that names the item, if there is exactly one.
    pub(crate) fn sole(&self) -> Option<u64> {
        (self.count == 1).then(|| self.top.pack())
    }
}

impl<T> Deque<T> {
    /// An empty deque whose tag and index begin at `start`, with `ring`, whose claims begin there
    /// too.
    pub(crate) fn new(start: u32, ring: NonNull<Ring<T>>, keeps_private: bool) -> Self {
        let top = Top {
            tag: start,
            index: start,
        };
        Self {
            top: CachePadded::new(AtomicU64::new(top.pack())),
            split: AtomicU32::new(start),
            ring: AtomicPtr::new(ring.as_ptr()),
            stops: Stops::new(keeps_private),
            items: PhantomData,
        }
    }

    // For the owner.

    /// Makes the items before `split` public. Or takes those from `split` on back, which a
    /// [`bump`](Self::bump) has to follow. Owner only.
    #[inline]
    pub(crate) fn publish(&self, split: u32) {
        // ORDERING: Release, for the Acquire of `split` in `observe`, raising and lowering alike. A
        // thief that reads this value sees the items before it written. It also sees every earlier
        // bump: if it holds an older tag, its claim fails. A lowering store needs Release too: a
        // thief may read it instead of the raising store before it, and a plain store does not
        // continue the other's release sequence.
        self.split.store(split, Ordering::Release);
    }

    /// Offers nothing, in a way that tells thieves to retry. Owner only; a [`bump`](Self::bump)
    /// follows.
    pub(crate) fn close(&self, bottom: u32) {
        self.publish(bottom.wrapping_sub(CLOSED));
    }

    /// Starts the next epoch: every claim in flight will fail. Returns the index that thieves have
    /// reached. Owner only.
    #[inline]
    pub(crate) fn bump(&self) -> u32 {
        // ORDERING: Release, for the Acquire of `top` in `observe`: a thief that reads the new tag
        // (from here or from a claim after it) also reads the `split` that was stored before the
        // bump, or a later one. Without it, it could pair the new tag with the old `split` and
        // claim an item that the owner takes. No Acquire: the result is a position in the
        // modification order of `top`, which alone decides each item's taker. `done` tells when the
        // thieves' reads of slots are over.
        Top::unpack(self.top.fetch_add(Top::NEXT_TAG, Ordering::Release)).index
    }

    /// An index that thieves have reached, perhaps not the newest. Owner only: for the owner it is
    /// at most `bottom`, and the deque is empty if it is `bottom`.
    #[inline]
    pub(crate) fn taken(&self) -> u32 {
        // ORDERING: Relaxed. The index only grows, so an old value errs on the safe side. Where the
        // owner compares it with `Ring::finished`, the Acquire there has ordered the finished
        // claims before this load.
        Top::unpack(self.top.load(Ordering::Relaxed)).index
    }

    /// Replaces the ring. Owner only, while the deque is closed.
    pub(crate) fn set_ring(&self, ring: NonNull<Ring<T>>) {
        // ORDERING: Release, for the Acquire of `ring` in `observe`: a thief that reads the new
        // ring sees the bump before it, so a claim with an older tag fails and is never counted on
        // the wrong ring. By argument: loom cannot let a thread read a store that comes later than
        // what it has seen, so no model needs it.
        self.ring.store(ring.as_ptr(), Ordering::Release);
    }

    // For thieves.

    /// Looks for public items.
    ///
    /// The three loads are in this order, each Acquire, so that a claim which succeeds has seen
    /// values of the epoch of its tag. Not older: the bump that began the epoch released what it
    /// found. Not newer: a later value of `split` or `ring` brings the next bump with it, and the
    /// claim fails.
    #[inline]
    pub(crate) fn observe(&self) -> Steal<Offer<T>> {
        // ORDERING: Acquire, for the Release of `bump`: see there. And for the Release of `claim`:
        // `split` is then not older than the one by which the last claim got here, so a shortfall
        // means what is said below.
        let top = Top::unpack(self.top.load(Ordering::Acquire));
        // ORDERING: Acquire, for the Release of `publish`: see there.
        let split = self.split.load(Ordering::Acquire);
        let count = split.wrapping_sub(top.index);
        match count {
            // Short by one: the owner is about to take the last item, or to find that it is gone.
            0 | u32::MAX => Steal::Empty,
            1..=MAX_CAPACITY => {
                // ORDERING: Acquire, for the Release of `set_ring`: see there; loom cannot show it
                // either.
                let ring = self.ring.load(Ordering::Acquire);
                // SAFETY: `new` and `set_ring` store what was a `NonNull`.
                let ring = unsafe { NonNull::new_unchecked(ring) };
                Steal::Success(Offer { top, count, ring })
            }
            // Closed. Or the index is older than billions of items: the claim would fail.
            _ => Steal::Retry,
        }
    }

    /// Whether a claim on `offer` may still succeed.
    pub(crate) fn stands(&self, offer: &Offer<T>) -> bool {
        // ORDERING: Relaxed: advice only, `claim` decides.
        self.top.load(Ordering::Relaxed) == offer.top.pack()
    }

    /// Claims the first `count` items of `offer` by one compare-and-swap, unless the owner or
    /// another thief came first. Returns the oldest item, and the claim of the others.
    #[inline]
    pub(crate) fn claim(&self, offer: &Offer<T>, count: u32) -> Option<(T, Claim<T>)> {
        debug_assert!((1..=offer.count).contains(&count));
        // ORDERING: Release on success, for the Acquire of `top` in `observe`: it hands the `split`
        // that was seen here on to the next thief. (loom cannot show its absence: nothing unsound
        // comes of it, a shortfall is then called `Retry`.) Claimed items need no Acquire: they
        // came with `split`. Relaxed on failure: nothing is done with the value.
        self.top
            .compare_exchange(
                offer.top.pack(),
                offer.top.advance(count).pack(),
                Ordering::Release,
                Ordering::Relaxed,
            )
            .ok()?;
        if count == offer.count {
            // Else the owner might hide the next item from all.
            self.stops.ask();
        }
        // SAFETY: the tag held until the exchange, so `split` and `ring` are of this epoch: the
        // items were written before the store of `split` that `observe` acquired, no bump that
        // could return them to the owner came between, and the ring lives until its `done` counts
        // them.
        Some(unsafe { Claim::begin(offer.ring, offer.top.index, count) })
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        let end = self.taken();
        // ORDERING: Relaxed: every handle is gone, and the last reference count acquired what the
        // others did.
        let newest = self.ring.load(Ordering::Relaxed);
        // SAFETY: never null (`new`, `set_ring`); rings come from `allocate`; claims end before the
        // handles that made them, and the index of top is final.
        unsafe { Ring::free_all(NonNull::new_unchecked(newest), end) };
    }
}
