//! Machines that tasks are bound to: how a processor is lent to one, and comes back. Part of the
//! roster, under its lock.
//!
//! A bound machine runs the tasks that are bound to it, and no others. It has no processor of its
//! own: whoever finds such a task lends it one, and waits to get it back. So a processor that a
//! bound machine holds always has two machines, and it can be given back, or left to its lender
//! during a blocking call, without asking anybody for a thread.

use crate::crew::{Crew, Turn};
use crate::hold::Hold;
use crate::roster::Roster;

/// Names one reservation of a thread by
/// [`Processors::reserve_thread`](crate::Processors::reserve_thread): never used again in the same
/// pool, and of no meaning in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundId(u32);

impl BoundId {
    /// The name as a number, never 0, for those who keep it in an atomic word.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The name that [`to_bits`](Self::to_bits) gave the number for. `None` for 0, which no thread
    /// has.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(bits))
    }
}

/// Bound machines that there may be at most, beside the others: each is there because somebody has
/// asked for it by name.
pub(crate) const MOST_BOUND: usize = 256;

/// One bound machine.
pub(crate) struct Bond {
    pub(crate) id: BoundId,
    pub(crate) machine: usize,
    /// It waits for a task, without a processor; who has found one may grant it its own.
    pub(crate) waits: bool,
    /// The machine whose processor it has, and which waits to get it back. None while it has no
    /// processor.
    pub(crate) lender: Option<usize>,
    /// No more tasks will be bound to it: when it has run those that wait, it is a machine like any
    /// other.
    released: bool,
}

/// What a bound machine that has no task left does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Release {
    /// It waits for its turn; the lender has the processor.
    Returned,
    /// There is a task after all.
    Another(Hold),
    /// It is not bound any more, and keeps the processor.
    Unbound(Hold),
}

impl Roster {
    fn bond(&mut self, machine: usize) -> Option<&mut Bond> {
        self.bonds.iter_mut().find(|bond| bond.machine == machine)
    }

    /// No tasks are bound to that one any more.
    fn take_bond(&mut self, at: usize) -> Bond {
        self.bound -= 1;
        self.bonds.swap_remove(at)
    }

    /// Whether the one who has waited longest for a processor is bound.
    pub(crate) fn is_next_bound(&self) -> bool {
        let next = self.waiters.front();
        self.bonds.iter().any(|bond| Some(&bond.machine) == next)
    }

    /// The lender of the processor that the machine has, if it was lent.
    pub(crate) fn take_lender(&mut self, machine: usize) -> Option<usize> {
        self.bond(machine)?.lender.take()
    }
}

impl Crew {
    /// One more bound machine, which `start` starts for the place that it is told; it waits for its
    /// first task. None if there may be no more, `start` could not, the pool is over, or all
    /// numbers have been used.
    pub fn bind(&self, start: impl FnOnce(usize) -> bool) -> Option<BoundId> {
        let place = {
            let mut roster = self.roster();
            let may_be = roster.bound < MOST_BOUND;
            let place = may_be.then(|| self.place(&mut roster)).flatten()?;
            roster.bound += 1;
            place
        };
        let started = start(place);
        // Under one lock with what follows: or there would seem to be room for one more.
        let mut roster = self.roster();
        self.settle(place, started, &mut roster);
        let next = roster.bound_so_far.checked_add(1);
        let Some(number) = next.filter(|_| started && !roster.over) else {
            roster.bound -= 1;
            if started {
                self.dismiss(place, &mut roster);
            }
            return None;
        };
        roster.bound_so_far = number;
        let id = BoundId(number);
        roster.bonds.push(Bond {
            id,
            machine: place,
            waits: true,
            lender: None,
            released: false,
        });
        Some(id)
    }

    /// What the machine is bound as.
    pub(crate) fn bound_as(&self, machine: usize) -> Option<BoundId> {
        self.roster().bond(machine).map(|bond| bond.id)
    }

    /// `lender` has found a task for a bound machine, and has queued it there: if that machine
    /// waits for one, it gets the processor, and `lender` must wait for its turn.
    ///
    /// # Errors
    /// The hold, if it does not wait: then it is awake, or in a blocking call, and looks into its
    /// queue before it waits again.
    pub fn lend(&self, hold: Hold, lender: usize, to: BoundId) -> Result<(), Hold> {
        let mut roster = self.roster();
        let waiting = |bond: &&mut Bond| bond.id == to && bond.waits;
        let Some(bond) = roster.bonds.iter_mut().find(waiting) else {
            return Err(hold);
        };
        bond.waits = false;
        bond.lender = Some(lender);
        let machine = bond.machine;
        drop(roster);
        self.give(machine, Turn::Run(hold));
        Ok(())
    }

    /// A bound machine has found its queue empty: gives the processor back, and waits for its next
    /// task. `is_done` looks once more, and, if it is told to, sees to it that nothing is queued
    /// any more.
    pub fn release(
        &self,
        hold: Hold,
        machine: usize,
        is_done: impl FnOnce(bool) -> bool,
    ) -> Release {
        let mut roster = self.roster();
        let Some(at) = roster.bonds.iter().position(|bond| bond.machine == machine) else {
            return Release::Unbound(hold);
        };
        let bond = &mut roster.bonds[at];
        // Under the lock: whoever queues a task afterwards takes the lock after us, and sees that
        // we wait.
        if !is_done(bond.released) {
            return Release::Another(hold);
        }
        if bond.released {
            let bond = roster.take_bond(at);
            if let Some(lender) = bond.lender {
                self.stand_by(lender, &mut roster);
            }
            return Release::Unbound(hold);
        }
        let Some(lender) = bond.lender.take() else {
            unreachable!("a processor that a bound machine holds has a lender");
        };
        bond.waits = true;
        drop(roster);
        self.give(lender, Turn::Run(hold));
        Release::Returned
    }

    /// No more tasks will be bound to the machine: it is one like any other, now or when it has run
    /// those that wait. `close` sees to it that nothing is queued any more, unless something is.
    pub fn unbind(&self, id: BoundId, close: impl FnOnce() -> bool) {
        let mut roster = self.roster();
        let Some(at) = roster.bonds.iter().position(|bond| bond.id == id) else {
            // The pool is over.
            return;
        };
        // If it waits and something is queued, whoever has queued it is about to lend it a
        // processor.
        if roster.bonds[at].waits && close() {
            let bond = roster.take_bond(at);
            self.stand_by(bond.machine, &mut roster);
        } else {
            roster.bonds[at].released = true;
        }
    }

    /// `machine` has lost its processor to `winner`, who has been away: it stands by, or is the
    /// winner's lender from now on.
    pub(crate) fn make_room(&self, machine: usize, winner: usize, roster: &mut Roster) {
        match roster.bond(winner) {
            Some(bond) => bond.lender = Some(machine),
            None => self.stand_by(machine, roster),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MOST_BOUND;
    use crate::crew::{Crew, Turn};
    use crate::hold::Hold;
    use crate::processor::Queues;

    fn run(crew: &Crew, machine: usize) -> Hold {
        match crew.turn(machine) {
            Some(Turn::Run(hold)) => hold,
            turn => panic!("machine {machine} is told {turn:?}"),
        }
    }

    /// A thread is released beyond the limit, and leaves. The next that stands by stays, though the
    /// other has not left yet. A failure: both leave, and the blocking call after that has no
    /// substitute and keeps the only processor.
    #[test]
    fn one_thread_too_many_is_one_that_leaves() {
        let queues = Queues::<()>::new(1);
        queues.reach(1);
        let crew = Crew::new(1, 1, 2, 8);
        assert!(crew.muster(1, |_| true));
        let (first, second, bound) = (0, 1, 2);
        let hold = run(&crew, first);
        assert!(crew.hand_off(hold, first, |_| true, &queues).is_ok());
        let id = crew.bind(|_| true).unwrap();
        queues.injector.push(());
        assert!(crew.wake_one());
        let Some(Turn::Search(hold)) = crew.turn(second) else {
            panic!("it has the processor that the call has left");
        };
        queues.injector.pop();
        crew.stop_searching(&queues);
        assert!(crew.try_regain(first).is_none(), "the other runs");

        crew.unbind(id, || true);
        assert_eq!(crew.turn(bound), Some(Turn::Leave));
        crew.hand_over(hold, second).unwrap();
        assert_eq!(crew.turn(second), None, "there are two, and may be");
        let hold = run(&crew, first);
        crew.hand_off(hold, first, |_| false, &queues)
            .expect("somebody stands by");
    }

    /// No spares are kept, and the limit leaves room for one call. A failure: the thread that the
    /// last call has displaced counts until it has left, and the next call keeps the only
    /// processor.
    #[test]
    fn one_that_leaves_makes_room_for_one_that_starts() {
        let queues = Queues::<()>::new(1);
        queues.reach(1);
        let crew = Crew::new(1, 1, 2, 0);
        assert!(crew.muster(1, |_| true));
        let (first, second) = (0, 1);
        let hold = run(&crew, first);
        assert!(crew.hand_off(hold, first, |_| true, &queues).is_ok());
        let hold = crew.try_regain(first).expect("nobody else has come");
        assert_eq!(crew.turn(second), Some(Turn::Leave));
        let mut started = None;
        let start = |place| started.replace(place).is_none();
        crew.hand_off(hold, first, start, &queues)
            .expect("a thread that leaves is not one too many");
        assert_eq!(started, Some(2), "its place is not free yet");
    }

    /// The same again and again, and no thread that has been told to leave gets round to it. A
    /// failure: they pile up beyond the limit, and take the places of threads that tasks are to be
    /// bound to, of which there are none.
    #[test]
    fn those_that_leave_make_room_for_one_per_processor() {
        let queues = Queues::<()>::new(1);
        queues.reach(1);
        let limit = 2;
        let crew = Crew::new(1, 1, limit, 0);
        assert!(crew.muster(1, |_| true));
        let mut hold = run(&crew, 0);
        for _ in 0..2 * MOST_BOUND {
            hold = match crew.hand_off(hold, 0, |_| true, &queues) {
                Ok(()) => crew.try_regain(0).expect("nobody else has come"),
                Err(kept) => kept,
            };
        }
        assert_eq!(crew.thread_stats().threads, limit + 1);
        for reserved in 0..MOST_BOUND {
            assert!(crew.bind(|_| true).is_some(), "{reserved} are reserved");
        }
        assert!(crew.bind(|_| true).is_none(), "enough");
    }
}
