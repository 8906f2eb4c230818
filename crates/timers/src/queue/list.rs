//! Doubly linked lists of timers in an arena.

use super::arena::Arena;

/// No timer.
const NONE: u32 = u32::MAX;

/// The kind of the list of a slot of the wheel.
pub(super) const SLOT: usize = 0;
/// The kind of the list of the timers that may become unwanted.
pub(super) const CONDITIONAL: usize = 1;

/// A list. A timer may be in one of each kind.
#[derive(Clone, Copy)]
pub(super) struct List<const KIND: usize> {
    first: u32,
    last: u32,
}

/// A timer's neighbours in its list of each kind; of no meaning for a list that it is not in.
pub(super) type Links = [(u32, u32); 2];

impl<const KIND: usize> List<KIND> {
    pub(super) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    pub(super) fn next(&self, timers: &Arena, place: u32) -> Option<u32> {
        let next = timers[place].links[KIND].1;
        (next != NONE).then_some(next)
    }

    /// Appends a timer that is in no list of this kind.
    pub(super) fn push(&mut self, timers: &mut Arena, place: u32) {
        timers[place].links[KIND] = (self.last, NONE);
        match self.last {
            NONE => self.first = place,
            last => timers[last].links[KIND].1 = place,
        }
        self.last = place;
    }

    /// Removes a timer of this list.
    pub(super) fn remove(&mut self, timers: &mut Arena, place: u32) {
        let (previous, next) = timers[place].links[KIND];
        match previous {
            NONE => self.first = next,
            previous => timers[previous].links[KIND].1 = next,
        }
        match next {
            NONE => self.last = previous,
            next => timers[next].links[KIND].0 = previous,
        }
    }
}
