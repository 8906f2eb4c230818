use core::fmt;

use filch_sync::atomic::{AtomicU64, Ordering};

/// Who may use a slot that is used again and again: one tenant at a time, each with a generation,
/// and the pins of those who are looking.
///
/// A slot of a [`Slab`](crate::Slab) never moves and is never freed, so a visitor may always *try*
/// to pin it. The pin tells whether the tenant that the visitor came for still lives there, and
/// while it is held the slot is not given to the next one. Reference counting, then, but of a kind
/// where a reference can be gained from a name alone.
///
/// One word, `generation:32 | live:1 | pins:31`, decides everything:
///
/// | event | word |
/// |---|---|
/// | [`move_in`](Self::move_in) | sets live, adds the tenant's own pin, and others |
/// | [`pin`](Self::pin), [`pin_current`](Self::pin_current), [`share`](Self::share) | pins + 1 |
/// | [`unpin`](Self::unpin) | pins − 1; at zero with live set: one compare-exchange clears live and raises the generation. Of what looks like the last pin, one compare-exchange does both |
///
/// The one whose compare-exchange succeeds is told [`Unpin::Last`] and owns the slot until it
/// releases it.
///
/// Every method is wait-free: `unpin` tries each compare-exchange once. When the last one fails,
/// somebody has pinned meanwhile, and it is for them to be the last one out; or they have been
/// already.
///
/// Limits: a visitor that keeps a generation over 2³² tenants of one slot would be mistaken. More
/// than 2³⁰ pins at once panic: objects that hold a pin end the memory long before, but one can
/// forget them ([`core::mem::forget`]).
pub struct Tenancy {
    word: AtomicU64,
}

/// What is left of a slot's use after a pin was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last one out must clean the slot and release it"]
pub enum Unpin {
    /// Somebody else still holds a pin, or has had this duty already, or the slot was vacant.
    Others,
    /// The tenant is gone and nobody looks any more. The caller has the slot to itself: it cleans
    /// it and releases it to the slab, exactly once. Everything that others did under their pins
    /// happened before.
    Last,
}

/// The tenant that was asked for is not there. The pin has been given back; what that left behind
/// is the answer to act on: an `is_err()` that ignores it may lose the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last one out must clean the slot and release it"]
pub struct Gone(pub Unpin);

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

impl Default for Tenancy {
    fn default() -> Self {
        Self::new()
    }
}

impl Tenancy {
    /// A vacant slot, generation 0.
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
        }
    }

    /// Makes the slot live, with `pins` pins, at least one, and returns the tenant's generation.
    /// One is the tenant's own; others are for those who are told of it at once, as if each had
    /// been [shared](Self::share).
    ///
    /// The caller has the slot from [`Slab::allocate`](crate::Slab::allocate). What it wrote there
    /// before is visible to whoever pins this generation.
    pub fn move_in(&self, pins: u32) -> u32 {
        debug_assert!((1..MOST_PINS).contains(&pins), "a tenant has a pin");
        // ORDERING: Release, partner of the Acquire in `pin`: a visitor sees the slot as the tenant
        // furnished it. Acquire, partner of the Release in `pin_current`: see there. An addition,
        // not a store: visitors with stale names may be adding and taking back pins right now.
        let before = Lease::unpack(
            self.word
                .fetch_add(LIVE + u64::from(pins), Ordering::AcqRel),
        );
        debug_assert!(!before.live, "moved into a slot that is let");
        before.generation
    }

    /// Pins the tenant `generation`.
    ///
    /// # Errors
    /// [`Gone`] if it no longer lives here. The slot was touched for a moment, and that moment may
    /// have been the last thing that its end waited for: then the error holds [`Unpin::Last`], and
    /// its duty.
    pub fn pin(&self, generation: u32) -> Result<(), Gone> {
        // ORDERING: Acquire, partner of the Release in `move_in`.
        let lease = self.pin_any(Ordering::Acquire);
        if lease.live && lease.generation == generation {
            Ok(())
        } else {
            Err(Gone(self.unpin()))
        }
    }

    /// Pins whoever lives here and returns its generation.
    ///
    /// Either this finds the tenant, or what the caller did before happens before the return of the
    /// [`move_in`](Self::move_in) that comes after.
    ///
    /// # Errors
    /// [`Gone`] as in [`pin`](Self::pin), if nobody does.
    pub fn pin_current(&self) -> Result<u32, Gone> {
        // ORDERING: Acquire as in `pin`. Release, partner of the Acquire in `move_in`: that one
        // reads this RMW, or one that continues its release sequence, if this one did not read
        // that.
        let lease = self.pin_any(Ordering::AcqRel);
        if lease.live {
            Ok(lease.generation)
        } else {
            Err(Gone(self.unpin()))
        }
    }

    /// One more pin for somebody who holds one already.
    ///
    /// # Panics
    /// If there are 2³⁰ pins; there is not one more then.
    pub fn share(&self) {
        // ORDERING: Relaxed: the caller's own pin keeps the tenant, and whatever is done under the
        // new pin is released by its `unpin`.
        let before = Lease::unpack(self.word.fetch_add(PIN, Ordering::Relaxed));
        debug_assert!(
            before.live && before.pins > 0,
            "shared a pin that is not held"
        );
        self.refuse_too_many(before);
    }

    /// Gives a pin back.
    pub fn unpin(&self) -> Unpin {
        // ORDERING: Relaxed: a guess, which the compare-exchange verifies.
        let now = Lease::unpack(self.word.load(Ordering::Relaxed));
        if now.live && now.pins == 1 && self.close(now) {
            return Unpin::Last;
        }
        // ORDERING: Release, partner of the Acquire in the compare-exchange of the last one out:
        // what was done under this pin happens before the cleaning. Unpins are RMWs, so each
        // continues the release sequence of the ones before it.
        let before = Lease::unpack(self.word.fetch_sub(PIN, Ordering::Release));
        debug_assert!(before.pins > 0, "gave back a pin that is not held");
        if before.pins != 1 || !before.live {
            return Unpin::Others;
        }
        if self.close(Lease { pins: 0, ..before }) {
            Unpin::Last
        } else {
            Unpin::Others
        }
    }

    /// Ends the tenancy, unless somebody has pinned since the word was `last`: with the caller's
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

    /// Whether the tenant `generation` lives here. It may move out before the answer is used: a pin
    /// keeps it, this does not.
    ///
    /// If it does live here, what was written before its [`move_in`](Self::move_in) is visible.
    pub fn houses(&self, generation: u32) -> bool {
        // ORDERING: Acquire, partner of the Release in `move_in`, as in `pin`.
        let lease = Lease::unpack(self.word.load(Ordering::Acquire));
        lease.live && lease.generation == generation
    }

    /// The generation of the tenant on which the caller holds a pin.
    pub fn generation(&self) -> u32 {
        // ORDERING: Relaxed: the pin keeps the tenant, and whoever gave or got it knows this
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

impl fmt::Debug for Tenancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: Relaxed: a snapshot for people.
        Lease::unpack(self.word.load(Ordering::Relaxed)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gone, Lease, Tenancy, Unpin};

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
        let slot = Tenancy::new();
        assert_eq!(slot.pin(0), Err(Gone(Unpin::Others)), "vacant");
        assert!(!slot.houses(0), "vacant");

        let first = slot.move_in(1);
        assert!(slot.houses(first) && !slot.houses(first + 1));
        assert_eq!(slot.pin(first), Ok(()));
        assert_eq!(slot.pin_current(), Ok(first));
        assert_eq!(slot.unpin(), Unpin::Others);
        assert_eq!(slot.unpin(), Unpin::Others);
        assert_eq!(
            slot.unpin(),
            Unpin::Last,
            "the tenant's own pin was the last"
        );

        let second = slot.move_in(1);
        assert_ne!(first, second);
        assert_eq!(slot.pin(first), Err(Gone(Unpin::Others)));
        assert_eq!(slot.pin(second), Ok(()));
    }

    #[test]
    fn the_slot_outlives_its_tenant_while_pinned() {
        let slot = Tenancy::new();
        let generation = slot.move_in(1);
        slot.share();
        assert_eq!(slot.unpin(), Unpin::Others, "the tenant leaves");
        assert_eq!(
            slot.pin(generation),
            Ok(()),
            "its name is still good: somebody looks at what it left"
        );
        assert_eq!(slot.unpin(), Unpin::Others);
        assert_eq!(slot.unpin(), Unpin::Last);
    }

    #[test]
    #[should_panic(expected = "forgotten instead of given back")]
    fn forgotten_pins_do_not_overflow_into_the_live_bit() {
        let slot = Tenancy::new();
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
        let slot = Tenancy::new();
        slot.word.store(
            Lease {
                generation: u32::MAX,
                live: false,
                pins: 0,
            }
            .pack(),
            super::Ordering::Relaxed,
        );
        assert_eq!(slot.move_in(1), u32::MAX);
        assert_eq!(slot.unpin(), Unpin::Last);
        assert_eq!(slot.move_in(1), 0);
    }
}
