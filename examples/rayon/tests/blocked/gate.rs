//! A gate where items wait until every thread holds one.

use std::sync::{Condvar, Mutex};

/// Holds items until one is held on each thread, or until none is left that has not begun. A thread
/// without an item, while some are left, keeps it closed for ever.
pub(crate) struct Gate {
    threads: usize,
    /// Returns the number of openings for which an item is held.
    openings_of: fn(usize) -> usize,
    state: Mutex<State>,
    /// Notified when it opens, when one item is missing, and when none is left.
    changes: Condvar,
}

struct State {
    /// The number of times that each item has begun.
    begun: Vec<usize>,
    /// Items that have not begun.
    left: usize,
    held: usize,
    /// The number of times that every thread held an item.
    openings: usize,
}

impl Gate {
    pub(crate) fn new(threads: usize, items: usize, openings_of: fn(usize) -> usize) -> Self {
        let state = State {
            begun: vec![0; items],
            left: items,
            held: 0,
            openings: 0,
        };
        Self {
            threads,
            openings_of,
            state: Mutex::new(state),
            changes: Condvar::new(),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Begins an item: holds it for its number of openings, or until no item is left.
    pub(crate) fn hold(&self, item: usize) {
        let mut state = self.state.lock().unwrap();
        state.begun[item] += 1;
        state.left -= 1;
        if state.left == 0 {
            self.changes.notify_all();
        }
        let last = state.openings + (self.openings_of)(item);
        while state.left > 0 && state.openings < last {
            state.held += 1;
            if state.held == self.threads {
                state.held = 0;
                state.openings += 1;
                self.changes.notify_all();
                continue;
            }
            if state.held + 1 == self.threads {
                self.changes.notify_all();
            }
            let seen = state.openings;
            let is_shut = |state: &mut State| state.left > 0 && state.openings == seen;
            state = self.changes.wait_while(state, is_shut).unwrap();
        }
    }

    /// Waits until an item is held on each thread but the calling one.
    pub(crate) fn wait_for_the_others(&self) {
        let state = self.state.lock().unwrap();
        let is_missing = |state: &mut State| state.held + 1 < self.threads;
        drop(self.changes.wait_while(state, is_missing).unwrap());
    }

    /// Checks, after all items have ended, that each began once, and that each thread had one while
    /// there were enough.
    pub(crate) fn check(self) {
        let state = self.state.into_inner().unwrap();
        assert!(state.begun.iter().all(|&times| times == 1));
        // The last item is not held, nor is any that was held with fewer than all threads.
        let full = (state.begun.len() - 1) / self.threads;
        assert!(state.openings >= full, "{} of {full}", state.openings);
    }
}
