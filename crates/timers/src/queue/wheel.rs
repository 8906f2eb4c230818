//! The order of pending timers: a hierarchical timing wheel.
//!
//! Source: G. Varghese and T. Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP 1987, scheme 7.
//!
//! A time is a number of nanoseconds, of eleven digits to the base 64. The wheel stands at the time
//! `at`, which is never later than a timer's. A timer is in the level of the first digit in which
//! it differs from `at`, in the slot of its own digit there:
//!
//! ```text
//!   at       …  3  17  40  05
//!   a timer  …  3  17  40  22    level 0, slot 22
//!   a timer  …  3  17  52  63    level 1, slot 52
//!   a timer  …  3  20  00  00    level 2, slot 20
//! ```
//!
//! So all timers of a level come before all of the next one, and those of a slot before all of the
//! slots behind it: the first timer is in the first occupied slot of the first occupied level. If
//! the slot has few, the first is found by a look at each. If it has many, the wheel moves to the
//! slot's beginning, from which they differ in a lower digit: they *cascade* to lower levels. A
//! slot of level 0 is one nanosecond. A timer moves ten times at most, however many there are;
//! setting and cancelling move none.
//!
//! Timers of one time stay in the order in which they were set, as a slot is a list, and cascades
//! keep its order: who is set later comes to the same slot, behind the others.

use super::arena::Arena;
use super::list::{List, SLOT};

/// The bits of a digit.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// Digits of a time of 64 bits.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;

pub(super) struct Wheel {
    /// The time at which the wheel stands.
    at: u64,
    /// A bit for each slot of a level that has timers.
    occupied: [u64; LEVELS],
    slots: Box<[Slot]>,
}

#[derive(Clone)]
struct Slot {
    timers: List<SLOT>,
    /// No timer of the slot is earlier. It is the time of the first, unless that was cancelled.
    soonest: u64,
}

impl Slot {
    const EMPTY: Self = Self {
        timers: List::EMPTY,
        soonest: u64::MAX,
    };
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            at: 0,
            occupied: [0; LEVELS],
            slots: vec![Slot::EMPTY; LEVELS * SLOTS].into(),
        }
    }

    /// Adds a timer. One that is earlier than the wheel is put where it stands.
    pub(super) fn insert(&mut self, timers: &mut Arena, place: u32) {
        let timer = &mut timers[place];
        let time = timer.time.max(self.at);
        let differ = time ^ self.at;
        // The last digit, where none differs.
        let level = (differ | 1).ilog2() / BITS;
        let digit = time >> (level * BITS) & (SLOTS as u64 - 1);
        let index = level as usize * SLOTS + digit as usize;
        timer.slot = index as u16;
        let slot = &mut self.slots[index];
        slot.soonest = slot.soonest.min(time);
        slot.timers.push(timers, place);
        self.occupied[level as usize] |= 1 << digit;
    }

    pub(super) fn remove(&mut self, timers: &mut Arena, place: u32) {
        let index = usize::from(timers[place].slot);
        let slot = &mut self.slots[index];
        slot.timers.remove(timers, place);
        if slot.timers.first().is_none() {
            slot.soonest = u64::MAX;
            self.occupied[index / SLOTS] &= !(1 << (index % SLOTS));
        }
    }

    /// Returns the time of the first timer, or an earlier one, if timers were cancelled.
    pub(super) fn next(&self) -> Option<u64> {
        self.first().map(|index| self.slots[index].soonest)
    }

    /// Removes the first timer that is due by `now`.
    pub(super) fn pop_due(&mut self, timers: &mut Arena, now: u64) -> Option<u32> {
        loop {
            let index = self.first()?;
            if self.slots[index].soonest > now {
                return None;
            }
            let Some((first, time, later)) = self.first_of_few(timers, index) else {
                self.cascade(timers, index);
                continue;
            };
            if time > now {
                self.slots[index].soonest = time;
                return None;
            }
            self.slots[index].soonest = later;
            self.remove(timers, first);
            return Some(first);
        }
    }

    /// Returns the first timer of a slot, its time, and that of the next one; `None` if the slot
    /// has many.
    fn first_of_few(&self, timers: &Arena, index: usize) -> Option<(u32, u64, u64)> {
        const FEW: usize = 8;
        let list = &self.slots[index].timers;
        let place = list.first()?;
        if index < SLOTS {
            return Some((place, self.slots[index].soonest, self.slots[index].soonest));
        }
        let mut first = (place, timers[place].time, u64::MAX);
        let mut next = list.next(timers, place);
        for _ in 1..=FEW {
            let Some(place) = next else {
                return Some(first);
            };
            let time = timers[place].time;
            first = match time < first.1 {
                true => (place, time, first.1),
                false => (first.0, first.1, first.2.min(time)),
            };
            next = list.next(timers, place);
        }
        None
    }

    /// Moves the wheel to the beginning of its first slot, and that slot's timers to lower levels.
    fn cascade(&mut self, timers: &mut Arena, index: usize) {
        let (level, digit) = (index / SLOTS, index % SLOTS);
        let bits = level as u32 * BITS;
        // The digits above this one stay, those below it are 0.
        let above = self.at >> bits >> BITS << BITS;
        self.at = (above | digit as u64) << bits;
        self.occupied[level] &= !(1 << digit);
        let slot = std::mem::replace(&mut self.slots[index], Slot::EMPTY);
        let mut next = slot.timers.first();
        while let Some(place) = next {
            next = slot.timers.next(timers, place);
            self.insert(timers, place);
        }
    }

    /// Returns the first slot with a timer.
    fn first(&self) -> Option<usize> {
        let level = self.occupied.iter().position(|&slots| slots != 0)?;
        Some(level * SLOTS + self.occupied[level].trailing_zeros() as usize)
    }
}
