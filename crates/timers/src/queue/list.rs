//! Doubly linked lists of timers in an arena.

use super::arena::Arena;

/// No timer.
const NONE: u32 = u32::MAX;

/// A list. A timer may be in one of each [`Kind`].
#[derive(Clone, Copy)]
pub(super) struct List {
    kind: Kind,
    first: u32,
    last: u32,
}

/// The links that a list goes by.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The timers of a slot of the wheel.
    Slot,
    /// The timers that may become unwanted.
    Conditional,
}

/// A timer's neighbours in its list of each kind.
pub(super) type Links = [(u32, u32); 2];

pub(super) const UNLINKED: Links = [(NONE, NONE); 2];

impl List {
    pub(super) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            first: NONE,
            last: NONE,
        }
    }

    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    pub(super) fn next(&self, timers: &Arena, place: u32) -> Option<u32> {
        let next = timers[place].links[self.kind as usize].1;
        (next != NONE).then_some(next)
    }

    /// Appends a timer that is in no list of this kind.
    pub(super) fn push(&mut self, timers: &mut Arena, place: u32) {
        let kind = self.kind as usize;
        timers[place].links[kind] = (self.last, NONE);
        match self.last {
            NONE => self.first = place,
            last => timers[last].links[kind].1 = place,
        }
        self.last = place;
    }

    /// Removes a timer of this list.
    pub(super) fn remove(&mut self, timers: &mut Arena, place: u32) {
        let kind = self.kind as usize;
        let (previous, next) = timers[place].links[kind];
        match previous {
            NONE => self.first = next,
            previous => timers[previous].links[kind].1 = next,
        }
        match next {
            NONE => self.last = previous,
            next => timers[next].links[kind].0 = previous,
        }
    }
}
