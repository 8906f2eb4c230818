use core::fmt;

use filch_sync::atomic::{AtomicU64, Ordering};

/// Who may use a slot that is used again and again: one occupant at a time, each with a generation,
/// and the pins of those who are looking.
///
/// A slot of a [`Slab`](crate::Slab) never moves and is never freed, so a visitor may always *try*
/// to pin it. The pin tells whether the occupant that the visitor came for still lives there, and
/// while it is held the slot is not given to the next one. Reference counting, then, but of a kind
/// where a reference can be gained from a name alone.
///
/// One word, `generation:32 | live:1 | pins:31`, decides everything:
///
/// | event | word |
/// |---|---|
/// | [`occupy`](Self::occupy) | sets live, adds the occupant's own pin, and others |
/// | [`pin`](Self::pin), [`pin_current`](Self::pin_current), [`share`](Self::share) | pins + 1 |
/// | [`unpin`](Self::unpin) | pins − 1; at zero with live set: one compare-exchange clears live and raises the generation. Of what looks like the last pin, one compare-exchange does both |
///
/// The one whose compare-exchange succeeds is told [`Unpinned::Last`] and owns the slot until it
/// releases it.
///
/// Every method is wait-free: `unpin` tries each compare-exchange once. When the last one fails,
/// somebody has pinned meanwhile, and it is for them to be the last one out; or they have been
/// already.
///
/// Limits: a visitor that keeps a generation over 2³² occupants of one slot would be mistaken. More
/// than 2³⁰ pins at once panic: objects that hold a pin end the memory long before, but one can
/// forget them ([`core::mem::forget`]).
pub struct Occupancy {
    word: AtomicU64,
}

/// What is left of a slot's use after a pin was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last one out must clean the slot and release it"]
pub enum Unpinned {
    /// Somebody else still holds a pin, or has had this duty already, or the slot was vacant.
    Others,
    /// The occupant is gone and nobody looks any more. The caller has the slot to itself: it cleans
    /// it and releases it to the slab, exactly once. Everything that others did under their pins
    /// happened before.
    Last,
}

/// The occupant that was asked for is not there. The pin has been given back; what that left behind
/// is the answer to act on: an `is_err()` that ignores it may lose the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last one out must clean the slot and release it"]
pub struct Stale(pub Unpinned);

/// The word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lease {
    generation: u32,
    live: bool,
    pins: u32,
}

const PIN: u64 = 1;
const LIVE: u64 = 1 << 31;
const PINS: u64 = LIVE - 1;
const MOST_PINS: u32 = 1 << 30;

impl Lease {
    const fn pack(self) -> u64 {
        (self.generation as u64) << 32 | if self.live { LIVE } else { 0 } | self.pins as u64
    }

    const fn unpack(word: u64) -> Self {
        Self {
            generation: (word >> 32) as u32,
            live: word & LIVE != 0,
            pins: (word & PINS) as u32,
        }
    }
}

impl Default for Occupancy {
    fn default() -> Self {
        Self::new()
    }
}

impl Occupancy {
    /// A vacant slot, generation 0.
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
        }
    }

    /// Makes the slot live, with `pins` pins, at least one, and returns the occupant's generation.
    /// One is the occupant's own; others are for those who are told of it at once, as if each had
    /// been [shared](Self::share).
    ///
    /// The caller has the slot from [`Slab::allocate`](crate::Slab::allocate). What it wrote there
    /// before is visible to whoever pins this generation.
    pub fn occupy(&self, pins: u32) -> u32 {
        debug_assert!((1..MOST_PINS).contains(&pins), "an occupant has a pin");
        // ORDERING: Release, partner of the Acquire in `pin`: a visitor sees the slot as the occupant
        // furnished it. Acquire, partner of the Release in `pin_current`: see there. An addition,
        // not a store: visitors with stale names may be adding and taking back pins right now.
        let before = Lease::unpack(
            self.word
                .fetch_add(LIVE + u64::from(pins), Ordering::AcqRel),
        );
        debug_assert!(!before.live, "moved into a slot that is let");
        before.generation
    }

    /// Pins the occupant `generation`.
    ///
    /// # Errors
    /// [`Stale`] if it no longer lives here. The slot was touched for a moment, and that moment may
    /// have been the last thing that its end waited for: then the error holds [`Unpinned::Last`], and
    /// its duty.
    pub fn pin(&self, generation: u32) -> Result<(), Stale> {
        // ORDERING: Acquire, partner of the Release in `occupy`.
        let lease = self.pin_any(Ordering::Acquire);
        if lease.live && lease.generation == generation {
            Ok(())
        } else {
            Err(Stale(self.unpin()))
        }
    }

    /// Pins whoever lives here and returns its generation.
    ///
    /// Either this finds the occupant, or what the caller did before happens before the return of the
    /// [`occupy`](Self::occupy) that comes after.
    ///
    /// # Errors
    /// [`Stale`] as in [`pin`](Self::pin), if nobody does.
    pub fn pin_current(&self) -> Result<u32, Stale> {
        // ORDERING: Acquire as in `pin`. Release, partner of the Acquire in `occupy`: that one
        // reads this RMW, or one that continues its release sequence, if this one did not read
        // that.
        let lease = self.pin_any(Ordering::AcqRel);
        if lease.live {
            Ok(lease.generation)
        } else {
            Err(Stale(self.unpin()))
        }
    }

    /// One more pin for somebody who holds one already.
    ///
    /// # Panics
    /// If there are 2³⁰ pins; there is not one more then.
    pub fn share(&self) {
        // ORDERING: Relaxed: the caller's own pin keeps the occupant, and whatever is done under the
        // new pin is released by its `unpin`.
        let before = Lease::unpack(self.word.fetch_add(PIN, Ordering::Relaxed));
        debug_assert!(
            before.live && before.pins > 0,
            "shared a pin that is not held"
        );
        self.refuse_too_many(before);
    }

    /// Gives a pin back.
    pub fn unpin(&self) -> Unpinned {
        // ORDERING: Relaxed: a guess, which the compare-exchange verifies.
        let now = Lease::unpack(self.word.load(Ordering::Relaxed));
        if now.live && now.pins == 1 && self.close(now) {
            return Unpinned::Last;
        }
        // ORDERING: Release, partner of the Acquire in the compare-exchange of the last one out:
        // what was done under this pin happens before the cleaning. Unpins are RMWs, so each
        // continues the release sequence of the ones before it.
        let before = Lease::unpack(self.word.fetch_sub(PIN, Ordering::Release));
        debug_assert!(before.pins > 0, "gave back a pin that is not held");
        if before.pins != 1 || !before.live {
            return Unpinned::Others;
        }
        if self.close(Lease { pins: 0, ..before }) {
            Unpinned::Last
        } else {
            Unpinned::Others
        }
    }

    /// Ends the occupancy, unless somebody has pinned since the word was `last`: with the caller's
    /// pin as the only one, or with none just after that one was given back.
    fn close(&self, last: Lease) -> bool {
        let vacant = Lease {
            generation: last.generation.wrapping_add(1),
            live: false,
            pins: 0,
        };
        // ORDERING: Acquire on success: see `unpin`. Relaxed on failure: the caller gives its pin
        // back first; or somebody is, or was, the last one out in its place. Not Release: the
        // cleaned slot is published by the slab's `release`.
        let closed = self.word.compare_exchange(
            last.pack(),
            vacant.pack(),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        closed.is_ok()
    }

    /// Whether the occupant `generation` lives here. It may move out before the answer is used: a pin
    /// keeps it, this does not.
    ///
    /// If it does live here, what was written before its [`occupy`](Self::occupy) is visible.
    pub fn is_current(&self, generation: u32) -> bool {
        // ORDERING: Acquire, partner of the Release in `occupy`, as in `pin`.
        let lease = Lease::unpack(self.word.load(Ordering::Acquire));
        lease.live && lease.generation == generation
    }

    /// The generation of the occupant on which the caller holds a pin.
    pub fn generation(&self) -> u32 {
        // ORDERING: Relaxed: the pin keeps the occupant, and whoever gave or got it knows this
        // generation already.
        Lease::unpack(self.word.load(Ordering::Relaxed)).generation
    }

    fn pin_any(&self, ordering: Ordering) -> Lease {
        // ORDERING: the caller's.
        let before = Lease::unpack(self.word.fetch_add(PIN, ordering));
        self.refuse_too_many(before);
        before
    }

    /// Far below the overflow into the live bit, so that threads that pass here at the same time do
    /// not reach it.
    fn refuse_too_many(&self, before: Lease) {
        if before.pins >= MOST_PINS {
            // ORDERING: Relaxed: nothing was done under this pin, and it is not the last.
            self.word.fetch_sub(PIN, Ordering::Relaxed);
            panic!("{MOST_PINS} pins on one slot: they are forgotten instead of given back");
        }
    }
}

impl fmt::Debug for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: Relaxed: a snapshot for people.
        Lease::unpack(self.word.load(Ordering::Relaxed)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lease, Occupancy, Stale, Unpinned};

    #[test]
    fn a_lease_survives_packing() {
        for generation in [0, 1, u32::MAX] {
            for live in [false, true] {
                for pins in [0, 1, (1 << 31) - 1] {
                    let lease = Lease {
                        generation,
                        live,
                        pins,
                    };
                    assert_eq!(Lease::unpack(lease.pack()), lease);
                }
            }
        }
    }

    #[test]
    fn a_name_reaches_its_own_tenant_only() {
        let slot = Occupancy::new();
        assert_eq!(slot.pin(0), Err(Stale(Unpinned::Others)), "vacant");
        assert!(!slot.is_current(0), "vacant");

        let first = slot.occupy(1);
        assert!(slot.is_current(first) && !slot.is_current(first + 1));
        assert_eq!(slot.pin(first), Ok(()));
        assert_eq!(slot.pin_current(), Ok(first));
        assert_eq!(slot.unpin(), Unpinned::Others);
        assert_eq!(slot.unpin(), Unpinned::Others);
        assert_eq!(
            slot.unpin(),
            Unpinned::Last,
            "the occupant's own pin was the last"
        );

        let second = slot.occupy(1);
        assert_ne!(first, second);
        assert_eq!(slot.pin(first), Err(Stale(Unpinned::Others)));
        assert_eq!(slot.pin(second), Ok(()));
    }

    #[test]
    fn the_slot_outlives_its_tenant_while_pinned() {
        let slot = Occupancy::new();
        let generation = slot.occupy(1);
        slot.share();
        assert_eq!(slot.unpin(), Unpinned::Others, "the occupant leaves");
        assert_eq!(
            slot.pin(generation),
            Ok(()),
            "its name is still good: somebody looks at what it left"
        );
        assert_eq!(slot.unpin(), Unpinned::Others);
        assert_eq!(slot.unpin(), Unpinned::Last);
    }

    #[test]
    #[should_panic(expected = "forgotten instead of given back")]
    fn forgotten_pins_do_not_overflow_into_the_live_bit() {
        let slot = Occupancy::new();
        let many = Lease {
            generation: 0,
            live: true,
            pins: super::MOST_PINS,
        };
        slot.word.store(many.pack(), super::Ordering::Relaxed);
        slot.share();
    }

    #[test]
    fn generations_wrap() {
        let slot = Occupancy::new();
        slot.word.store(
            Lease {
                generation: u32::MAX,
                live: false,
                pins: 0,
            }
            .pack(),
            super::Ordering::Relaxed,
        );
        assert_eq!(slot.occupy(1), u32::MAX);
        assert_eq!(slot.unpin(), Unpinned::Last);
        assert_eq!(slot.occupy(1), 0);
    }
}
