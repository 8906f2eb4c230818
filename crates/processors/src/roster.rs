//! Machines without a processor, and processors without a machine: what only changes under a lock.
//!
//! The lock is held for a few instructions (and a wake-up, or a deque's remains at a resize), by
//! blocking calls, resizes and the end. Neither making tasks runnable nor running them takes it.

use std::collections::VecDeque;

use filch_parker::Parker;

use crate::bond::Bond;
use crate::crew::{Crew, Turn};
use crate::hold::Hold;

/// See the [module](self).
pub(crate) struct Roster {
    /// Machines that stand by, the last to come first to go: its stack is warm.
    pub(crate) spares: Vec<usize>,
    /// How many of them are kept.
    most_spares: usize,
    /// Machines that are back from a blocking call and wait for a processor, the longest wait
    /// first.
    pub(crate) waiters: VecDeque<usize>,
    /// Machines that tasks are bound to.
    pub(crate) bonds: Vec<Bond>,
    /// How many there are, or are about to be.
    pub(crate) bound: usize,
    /// How many there have been.
    pub(crate) bound_so_far: u32,
    /// Processors that nobody may run on: not started yet, retired, or all of them, since the pool
    /// is over.
    pub(crate) at_rest: Box<[Option<Hold>]>,
    /// Places of machines that have left.
    pub(crate) vacant: Vec<usize>,
    /// The parkers of the machines whose thread does not run yet, or has left.
    pub(crate) parkers: Vec<Option<Parker>>,
    /// Nothing runs any more, or will: everybody has been told to leave.
    pub(crate) over: bool,
    /// Threads that are there, or about to be.
    pub(crate) threads: usize,
    /// Those of them that have been told to leave.
    pub(crate) leaving: usize,
    /// Threads started so far.
    pub(crate) started: u64,
    /// Times a thread was wanted and could not be had.
    pub(crate) refused: u64,
}

impl Roster {
    pub(crate) fn new(processors: usize, most_spares: usize) -> Self {
        Self {
            spares: Vec::new(),
            most_spares,
            waiters: VecDeque::new(),
            bonds: Vec::new(),
            bound: 0,
            bound_so_far: 0,
            // SAFETY: these are new: the first holds that there are.
            at_rest: (0..processors)
                .map(|processor| Some(unsafe { Hold::from_number(processor) }))
                .collect(),
            vacant: Vec::new(),
            parkers: Vec::new(),
            over: false,
            threads: 0,
            leaving: 0,
            started: 0,
            refused: 0,
        }
    }
}

impl Roster {
    /// Threads that no tasks are bound to.
    pub(crate) fn unbound(&self) -> usize {
        self.threads - self.bound
    }
}

impl Crew {
    /// A machine has lost its processor, or given it up between two tasks: it stands by, or leaves
    /// if enough others do, or there is one too many since tasks are no longer bound to another
    /// one. One that leaves already is not too many: it may take its time, and were two to leave
    /// for it, a call at the limit would find none that stands by.
    pub(crate) fn stand_by(&self, machine: usize, roster: &mut Roster) {
        if roster.spares.len() >= roster.most_spares
            || roster.unbound() > self.limit + roster.leaving
        {
            self.dismiss(machine, roster);
        } else {
            roster.spares.push(machine);
        }
    }

    /// Tells a machine to leave.
    pub(crate) fn dismiss(&self, machine: usize, roster: &mut Roster) {
        roster.leaving += 1;
        self.give(machine, Turn::Leave);
    }

    /// Gives idle processors to those who wait for one, as long as there are both.
    pub(crate) fn serve(&self, roster: &mut Roster) {
        while !roster.waiters.is_empty() {
            let Some((hold, machine)) = self.take_idle() else {
                return;
            };
            if let Some(waiter) = self.next_waiter(roster) {
                self.make_room(machine, waiter, roster);
                self.give_back(waiter, hold);
            }
        }
    }

    /// Takes the longest waiter off the list.
    pub(crate) fn next_waiter(&self, roster: &mut Roster) -> Option<usize> {
        let waiter = roster.waiters.pop_front()?;
        self.board.remove_waiting();
        Some(waiter)
    }
}
