//! A gate at which items wait until all threads have come to it.

use std::sync::{Condvar, Mutex};

/// Holds items until one is held on each thread, or until none is left that has not begun. A
/// thread that has no item while there are some closes it for ever.
pub(crate) struct Gate {
    threads: usize,
    /// For how many openings an item is held.
    openings_of: fn(usize) -> usize,
    state: Mutex<State>,
    /// It opens, or one item is missing.
    changes: Condvar,
}

struct State {
    /// How often each item has begun.
    begun: Vec<usize>,
    /// Items that have not begun.
    left: usize,
    held: usize,
    /// How often an item was held on each thread.
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

    /// The item has begun: holds it for as many openings as are its, or until no item is left.
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

    /// All items have ended: each began once, and as long as there were enough of them, each thread
    /// had one.
    pub(crate) fn check(self) {
        let state = self.state.into_inner().unwrap();
        assert!(state.begun.iter().all(|&times| times == 1));
        // The last item is not held, nor is any that was held with fewer than there are threads.
        let full = (state.begun.len() - 1) / self.threads;
        assert!(state.openings >= full, "{} of {full}", state.openings);
    }
}
