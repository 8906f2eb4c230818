//! Machines without a processor, and processors without a machine: what only changes under a lock.
//!
//! The lock is held for a few instructions (and a wake-up, or a deque's remains at a resize), by blocking calls, resizes
//! and the end. Neither making tasks runnable nor running them takes it.

use std::collections::VecDeque;

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::bond::Bond;
use crate::crew::{Crew, Turn};
use crate::hold::Hold;

/// See the [module](self).
pub(crate) struct Roster {
    /// Machines that stand by, the last to come first to go: its stack is warm.
    pub(crate) spares: Vec<usize>,
    /// How many of them are kept.
    most_spares: usize,
    /// Machines that are back from a blocking call and wait for a processor, the longest wait first.
    pub(crate) waiters: VecDeque<usize>,
    /// Machines that tasks are bound to.
    pub(crate) bonds: Vec<Bond>,
    /// How many there have been.
    pub(crate) bound_so_far: u64,
    /// Processors that nobody may run on: not started yet, retired, or given up at the end.
    pub(crate) at_rest: Box<[Option<Hold>]>,
    /// Places of machines that have left.
    pub(crate) vacant: Vec<usize>,
    /// The parkers of the machines whose thread does not run yet, or has left.
    pub(crate) parkers: Vec<Option<Parker>>,
    /// Threads that are there, or about to be.
    pub(crate) threads: usize,
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
            bound_so_far: 0,
            // SAFETY: these are new: the first holds that there are.
            at_rest: (0..processors)
                .map(|processor| Some(unsafe { Hold::from_number(processor) }))
                .collect(),
            vacant: Vec::new(),
            parkers: Vec::new(),
            threads: 0,
            started: 0,
            refused: 0,
        }
    }
}

impl Crew {
    /// A machine has lost its processor, or given it up between two tasks: it stands by, or leaves if enough others do.
    pub(crate) fn stand_by(&self, machine: usize, roster: &mut Roster) {
        if roster.spares.len() >= roster.most_spares || self.notice().stopping {
            self.give(machine, Turn::Leave);
        } else {
            roster.spares.push(machine);
        }
    }

    /// Gives idle processors to those who wait for one, as long as there are both.
    pub(crate) fn serve(&self, roster: &mut Roster) {
        while !roster.waiters.is_empty() {
            let (hold, displaced) = match self.take_idle() {
                Some((hold, machine)) => (hold, Some(machine)),
                // At the end processors are given up for good, but not for those who come back late.
                None if self.notice().stopping => match self.resume(roster) {
                    Some(hold) => (hold, None),
                    None => return,
                },
                None => return,
            };
            if let Some(waiter) = self.next_waiter(roster) {
                if let Some(machine) = displaced {
                    self.make_room(machine, waiter, roster);
                }
                self.give(waiter, Turn::Run(hold));
            }
        }
    }

    /// Takes the longest waiter off the list.
    pub(crate) fn next_waiter(&self, roster: &mut Roster) -> Option<usize> {
        let waiter = roster.waiters.pop_front()?;
        self.board.remove_waiting();
        Some(waiter)
    }

    /// No task is awaited any more: all machines look around once more and leave.
    pub fn stop(&self) {
        self.board.stop();
        // ORDERING: partner of the fence in `go_idle`. Either the processor that goes idle now sees that the pool stops, or we see
        // it on the stack.
        fence(Ordering::SeqCst);
        let mut roster = self.roster();
        for spare in std::mem::take(&mut roster.spares) {
            self.give(spare, Turn::Leave);
        }
        let nobody_is_left = roster.threads == 0;
        drop(roster);
        self.wake_all();
        if nobody_is_left {
            self.announce_end();
        }
    }

    /// The pool is over, and the machine has found nothing more to run: gives the processor up, and leaves.
    pub fn give_up(&self, hold: Hold) {
        let mut roster = self.roster();
        match self.next_waiter(&mut roster) {
            Some(waiter) => self.give(waiter, Turn::Run(hold)),
            None => self.lay_down(hold, &mut roster),
        }
    }
}
