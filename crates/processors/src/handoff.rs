//! Blocking calls: the thread gives its processor away, so that others go on, and gets one back at the end.

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::Processors;
use crate::crew::{Crew, Doing, Turn, Work};
use crate::current::{self, Current};
use crate::hold::Hold;
use crate::roster::Roster;

impl Crew {
    /// `machine` is about to block: its processor, unless there is one too many, goes to the longest waiter, or goes idle with a machine that stands by,
    /// who is woken at once if there is work. If no machine stands by, `start` is called to start one for the place that it is
    /// told, and says whether it could.
    ///
    /// # Errors
    /// The hold, if no thread could be had: the machine must block with it.
    pub fn hand_off(
        &self,
        hold: Hold,
        machine: usize,
        start: impl FnOnce(usize) -> bool,
        work: &impl Work,
    ) -> Result<(), Hold> {
        let mut hold = hold;
        if self.notice().is_surplus(hold.processor()) {
            // Not to a waiter, who would pass it on in the same way.
            let part = |roster: &mut Roster| {
                self.go_away(machine);
                if let Some(lender) = roster.take_lender(machine) {
                    self.stand_by(lender, roster);
                }
            };
            match self.lay_aside(hold, work, part) {
                Ok(()) => return Ok(()),
                Err(kept) => hold = kept,
            }
        }
        let mut roster = self.roster();
        if self.notice().stopping {
            return Err(hold);
        }
        let lender = roster.take_lender(machine);
        // A bound machine that waits needs somebody to give the processor back to: it gets it from the idle stack, with the
        // substitute.
        if lender.is_none()
            && !roster.is_next_bound()
            && let Some(waiter) = self.next_waiter(&mut roster)
        {
            drop(roster);
            self.go_away(machine);
            self.give(waiter, Turn::Run(hold));
            return Ok(());
        }
        let substitute = match lender.or_else(|| roster.spares.pop()) {
            Some(spare) => {
                drop(roster);
                spare
            }
            None => {
                let place = self.vacancy(&mut roster);
                drop(roster);
                match place {
                    Some(place) if self.try_start(place, start) => place,
                    _ => return Err(hold),
                }
            }
        };
        self.go_away(machine);
        self.rest(hold, substitute, false, work);
        Ok(())
    }

    pub(crate) fn go_away(&self, machine: usize) {
        // ORDERING: Relaxed: released with the processor, which is given away only now: whoever finds all of them idle, finds
        // this too.
        self.away.fetch_add(1, Ordering::Relaxed);
        self.member(machine).set(Doing::Blocks);
    }

    /// The machine is back: takes an idle processor, or blocks until somebody gives it one.
    pub fn regain(&self, machine: usize, parker: &Parker) -> Hold {
        let hold = self.try_regain(machine).unwrap_or_else(|| {
            self.member(machine).set(Doing::Waits);
            match self.wait(machine, parker) {
                Turn::Run(hold) => hold,
                turn => unreachable!("one who waits for a processor is told {turn:?}"),
            }
        });
        self.member(machine).set(Doing::Runs);
        // ORDERING: Release, partner of the fence in `Idle::is_still`: whoever sees that nobody is away any more, sees that a
        // processor was taken off the stack for it.
        self.away.fetch_sub(1, Ordering::Release);
        hold
    }

    /// Takes an idle processor, or queues the machine for one: then its next turn is to run.
    pub fn try_regain(&self, machine: usize) -> Option<Hold> {
        // The one that went idle last; if nothing has happened meanwhile, the machine's old one. Not past those who wait.
        if self.notice().waiting == 0
            && let Some((hold, displaced)) = self.take_idle()
        {
            self.make_room(displaced, machine, &mut self.roster());
            return Some(hold);
        }
        let mut roster = self.roster();
        roster.waiters.push_back(machine);
        self.board.add_waiting();
        // ORDERING: partner of the fence in `go_idle`. Either a processor that goes idle now sees on the board that somebody
        // waits, or we see it on the stack.
        fence(Ordering::SeqCst);
        self.serve(&mut roster);
        None
    }

    /// Between two tasks: the processor goes to whoever has waited for it longest, and the machine stands by.
    ///
    /// # Errors
    /// The hold, if nobody waits any more.
    pub fn hand_over(&self, hold: Hold, machine: usize) -> Result<(), Hold> {
        let mut roster = self.roster();
        let Some(waiter) = self.next_waiter(&mut roster) else {
            return Err(hold);
        };
        self.make_room(machine, waiter, &mut roster);
        drop(roster);
        self.give(waiter, Turn::Run(hold));
        Ok(())
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Runs `call`, which may block: a system call, a lock, a wait for something that another task does. If the calling
    /// thread is running a task of this pool, then other tasks go on meanwhile: the thread gives its processor to
    /// another thread. At the end it takes the processor that went idle last, usually its own, or waits until a running one is
    /// between two tasks and gives its own away. Blocking.
    ///
    /// Elsewhere, or inside another `blocking`, it just runs `call`. So it does, **with the processor kept**, when the limit of
    /// threads is reached, the system refuses a thread, or the pool is stopping: the others must do without. That is
    /// counted in [`ProcessorStats::blocked_in_place`](crate::ProcessorStats).
    ///
    /// Once the pool is stopping, `call` must not wait for a task of the same pool: that may never run, and
    /// [`Machines::join`](crate::Machines::join) hangs.
    ///
    /// If `call` panics, the panic goes on when the thread has a processor again.
    ///
    /// What `call` schedules goes to the global queue. All that happens in the task before and after happens on one thread, in
    /// order, though perhaps on two processors.
    ///
    /// Costs about two short locks and two compare-and-swaps when nobody else wants to run, and a thread's wake-up when somebody
    /// does; the first calls start threads. Not worth it for what takes less than some ten microseconds.
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        let away = current::with_current(self, |current| self.leave(current));
        // Lazily: an `Away` that is made comes back.
        let _away = (away == Some(true)).then(|| Away { pool: self });
        call()
    }

    /// Whether the machine has given its processor away.
    fn leave(&self, current: &Current<'_>) -> bool {
        let Some(hold) = current.hold.take() else {
            return false;
        };
        let counters = &self.queues.processors[hold.processor()].counters;
        // Before it is given away: afterwards these figures are another thread's.
        counters.blocking_calls.add(1);
        let start = |place| self.start_thread(place);
        match self
            .crew
            .hand_off(hold, current.machine, start, &self.queues)
        {
            Ok(()) => true,
            Err(hold) => {
                let processor = hold.processor();
                current.hold.replace(Some(hold));
                self.queues.processors[processor]
                    .counters
                    .blocked_in_place
                    .add(1);
                false
            }
        }
    }
}

/// A blocking call under way; at its end, also by unwinding, the thread has a processor again.
struct Away<'pool, T: Send + 'static> {
    pool: &'pool Processors<T>,
}

impl<T: Send + 'static> Drop for Away<'_, T> {
    fn drop(&mut self) {
        current::with_current(self.pool, |current| {
            let hold = self.pool.crew.regain(current.machine, current.parker);
            current.hold.replace(Some(hold));
        });
    }
}
