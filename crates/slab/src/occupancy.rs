//! One word per slot: its occupant, and the number of threads that look at it.

use core::fmt;

use filch_sync::atomic::{AtomicU64, Ordering};

/// The right to use a slot that is used again and again. It has one occupant at a time, each with a
/// generation, and pins of the threads that look at it.
///
/// A slot of a [`Slab`](crate::Slab) never moves and is never freed, so a visitor may always *try*
/// to pin it. The attempt tells whether the occupant that the visitor came for is still there, and
/// while a pin is held the slot is not given to the next occupant. This is reference counting in
/// which an index and a generation are enough to gain a reference.
///
/// One word, `generation:32 | live:1 | pins:31`, decides everything:
///
/// | event | word |
/// |---|---|
/// | [`occupy`](Self::occupy) | sets live, adds the occupant's pin, and others |
/// | [`pin`](Self::pin), [`pin_current`](Self::pin_current), [`share`](Self::share) | pins + 1 |
/// | [`unpin`](Self::unpin) | pins − 1; at zero with live set: one compare-exchange clears live and raises the generation. Where the pin looks like the last one, one compare-exchange does both |
///
/// The thread whose compare-exchange succeeds is told [`Unpinned::Last`], and owns the slot until
/// it releases it.
///
/// Every method is wait-free: `unpin` tries each compare-exchange once. If the last one fails,
/// another thread has pinned the slot meanwhile; then that thread will be the last, or has been.
///
/// Limits: a visitor that keeps a generation while the slot has 2³² occupants takes a later one for
/// its own. More than 2³⁰ pins at once panic: memory runs out before as many objects hold one,
/// unless they are forgotten ([`core::mem::forget`]).
pub struct Occupancy {
    word: AtomicU64,
}

/// The duty left by a pin that was given back, if any. Match both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last thread must clean the slot and release it"]
pub enum Unpinned {
    /// Nothing to do: another thread holds a pin, or has had the duty, or the slot was vacant.
    Others,
    /// The occupant is gone and no pin is left. The caller has the slot to itself: it cleans the
    /// slot and releases it to the slab, exactly once. Everything that other threads did under
    /// their pins happened before.
    Last,
}

/// The requested occupant is gone, and the pin has been given back. Handle the duty that this left:
/// an `is_err()` that ignores [`Unpinned::Last`] loses the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last thread must clean the slot and release it"]
pub struct Stale(pub Unpinned);

/// The word, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status {
    generation: u32,
    live: bool,
    pins: u32,
}

const PIN: u64 = 1;
const LIVE: u64 = 1 << 31;
const PINS: u64 = LIVE - 1;
const MAX_PINS: u32 = 1 << 30;

impl Status {
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
    /// Makes a vacant slot, generation 0.
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
        }
    }

    /// Makes the slot live, with `pins` pins, at least one, and returns the occupant's generation.
    /// One pin is the occupant's. The others are for threads that hold one from the beginning, as
    /// if each had been [shared](Self::share).
    ///
    /// The caller has the slot from [`Slab::allocate`](crate::Slab::allocate). What it wrote there
    /// before is visible to every thread that pins this generation.
    pub fn occupy(&self, pins: u32) -> u32 {
        debug_assert!((1..MAX_PINS).contains(&pins), "an occupant has a pin");
        // ORDERING: Release, partner of the Acquire in `pin`: a visitor sees the slot as the
        // occupant prepared it. Acquire, partner of the Release in `pin_current`: see there. An
        // addition, not a store: visitors with stale generations may be adding and taking back pins
        // right now.
        let before = Status::unpack(
            self.word
                .fetch_add(LIVE + u64::from(pins), Ordering::AcqRel),
        );
        debug_assert!(!before.live, "occupied a slot that is live");
        before.generation
    }

    /// Pins the occupant `generation`.
    ///
    /// # Errors
    /// [`Stale`] if it is no longer here. The attempt held a pin for a moment, which may have
    /// become the last one: then the error holds [`Unpinned::Last`], and its duty.
    pub fn pin(&self, generation: u32) -> Result<(), Stale> {
        // ORDERING: Acquire, partner of the Release in `occupy`.
        let status = self.pin_any(Ordering::Acquire);
        if status.live && status.generation == generation {
            Ok(())
        } else {
            Err(Stale(self.unpin()))
        }
    }

    /// Pins the current occupant and returns its generation.
    ///
    /// Either this finds an occupant, or what the caller did before happens before the return of
    /// the [`occupy`](Self::occupy) that comes after.
    ///
    /// # Errors
    /// [`Stale`] as in [`pin`](Self::pin), if the slot has no occupant.
    pub fn pin_current(&self) -> Result<u32, Stale> {
        // ORDERING: Acquire as in `pin`. Release, partner of the Acquire in `occupy`: that one
        // reads this RMW, or one that continues its release sequence, if this one did not read
        // that.
        let status = self.pin_any(Ordering::AcqRel);
        if status.live {
            Ok(status.generation)
        } else {
            Err(Stale(self.unpin()))
        }
    }

    /// Adds a pin for another thread. The caller holds one already.
    ///
    /// # Panics
    /// If there are 2³⁰ pins; then none is added.
    pub fn share(&self) {
        // ORDERING: Relaxed: the caller's own pin keeps the occupant, and whatever is done under
        // the new pin is released by its `unpin`.
        let before = Status::unpack(self.word.fetch_add(PIN, Ordering::Relaxed));
        debug_assert!(
            before.live && before.pins > 0,
            "shared a pin that is not held"
        );
        self.refuse_too_many(before);
    }

    /// Gives a pin back.
    pub fn unpin(&self) -> Unpinned {
        // ORDERING: Relaxed: a guess, which the compare-exchange verifies.
        let now = Status::unpack(self.word.load(Ordering::Relaxed));
        if now.live && now.pins == 1 && self.close(now) {
            return Unpinned::Last;
        }
        // ORDERING: Release, partner of the Acquire in the compare-exchange of the last thread:
        // what was done under this pin happens before the cleaning. Unpins are RMWs, so each
        // continues the release sequence of the ones before it.
        let before = Status::unpack(self.word.fetch_sub(PIN, Ordering::Release));
        debug_assert!(before.pins > 0, "gave back a pin that is not held");
        if before.pins != 1 || !before.live {
            return Unpinned::Others;
        }
        if self.close(Status { pins: 0, ..before }) {
            Unpinned::Last
        } else {
            Unpinned::Others
        }
    }

    /// Ends the occupancy, unless a thread has pinned the slot since the word was `last`: the
    /// caller's pin is the only one, or was just given back and none is left.
    fn close(&self, last: Status) -> bool {
        let vacant = Status {
            generation: last.generation.wrapping_add(1),
            live: false,
            pins: 0,
        };
        // ORDERING: Acquire on success: see `unpin`. Relaxed on failure: the caller has yet to give
        // its pin back; or another thread is, or was, the last one in its place. Not Release: the
        // slab's `release` publishes the cleaned slot.
        let closed = self.word.compare_exchange(
            last.pack(),
            vacant.pack(),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        closed.is_ok()
    }

    /// Returns whether the occupant `generation` is here. It may leave at any moment: only a pin
    /// keeps it.
    ///
    /// If it is here, what was written before its [`occupy`](Self::occupy) is visible.
    pub fn is_current(&self, generation: u32) -> bool {
        // ORDERING: Acquire, partner of the Release in `occupy`, as in `pin`.
        let status = Status::unpack(self.word.load(Ordering::Acquire));
        status.live && status.generation == generation
    }

    /// The generation of the occupant on which the caller holds a pin.
    #[inline]
    pub fn generation(&self) -> u32 {
        // ORDERING: Relaxed: the pin keeps the occupant, and the thread that gained the pin has
        // read this generation already.
        Status::unpack(self.word.load(Ordering::Relaxed)).generation
    }

    /// Returns the number of pins; call it with one. The others may change at any moment.
    #[inline]
    pub fn pins(&self) -> u32 {
        // ORDERING: Relaxed: a caller to which it matters what was done under a pin that is not
        // there any more puts an Acquire fence behind this, the partner of the Release in `unpin`.
        Status::unpack(self.word.load(Ordering::Relaxed)).pins
    }

    fn pin_any(&self, ordering: Ordering) -> Status {
        // ORDERING: the caller's.
        let before = Status::unpack(self.word.fetch_add(PIN, ordering));
        self.refuse_too_many(before);
        before
    }

    /// Panics far below the overflow into the live bit, so that threads that add pins at the same
    /// time do not reach it.
    fn refuse_too_many(&self, before: Status) {
        if before.pins >= MAX_PINS {
            // ORDERING: Relaxed: nothing was done under this pin, and it is not the last.
            self.word.fetch_sub(PIN, Ordering::Relaxed);
            panic!("{MAX_PINS} pins on one slot: they are forgotten instead of given back");
        }
    }
}

impl fmt::Debug for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: Relaxed: a snapshot for people.
        Status::unpack(self.word.load(Ordering::Relaxed)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Occupancy, Stale, Status, Unpinned};

    #[test]
    fn a_status_survives_packing() {
        for generation in [0, 1, u32::MAX] {
            for live in [false, true] {
                for pins in [0, 1, (1 << 31) - 1] {
                    let status = Status {
                        generation,
                        live,
                        pins,
                    };
                    assert_eq!(Status::unpack(status.pack()), status);
                }
            }
        }
    }

    #[test]
    fn a_generation_reaches_its_occupant_only() {
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
            "the occupant's pin was the last"
        );

        let second = slot.occupy(1);
        assert_ne!(first, second);
        assert_eq!(slot.pin(first), Err(Stale(Unpinned::Others)));
        assert_eq!(slot.pin(second), Ok(()));
    }

    #[test]
    fn the_slot_outlives_its_occupant_while_pinned() {
        let slot = Occupancy::new();
        let generation = slot.occupy(1);
        slot.share();
        assert_eq!(slot.unpin(), Unpinned::Others, "the occupant leaves");
        assert_eq!(
            slot.pin(generation),
            Ok(()),
            "its generation is still good: a pin is left"
        );
        assert_eq!(slot.unpin(), Unpinned::Others);
        assert_eq!(slot.unpin(), Unpinned::Last);
    }

    #[test]
    fn forgotten_pins_do_not_overflow_into_the_live_bit() {
        extern crate std;
        let many = Status {
            generation: 0,
            live: true,
            pins: super::MAX_PINS,
        };
        let more: [fn(&Occupancy); 3] = [
            Occupancy::share,
            |slot| _ = slot.pin(0),
            |slot| _ = slot.pin_current(),
        ];
        for more in more {
            let slot = Occupancy::new();
            slot.word.store(many.pack(), super::Ordering::Relaxed);
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| more(&slot)));
            let message = refused.expect_err("one pin too many");
            let message = message.downcast_ref::<std::string::String>().unwrap();
            assert!(message.contains("forgotten instead of given back"));
            let word = slot.word.load(super::Ordering::Relaxed);
            assert_eq!(Status::unpack(word), many, "none was added");
        }
    }

    #[test]
    fn generations_wrap() {
        let slot = Occupancy::new();
        slot.word.store(
            Status {
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
