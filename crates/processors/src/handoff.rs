//! Blocking calls: the thread gives its processor away, so that others go on, and gets one back at
//! the end.

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::Processors;
use crate::crew::{Crew, Doing, Turn, Work};
use crate::current::{self, Current};
use crate::hold::Hold;

/// How often in a row a processor may go to threads that are back from blocking calls, before a
/// task in the queue has its turn.
const STREAK: u32 = 16;

impl Crew {
    /// Whether the processor has been given to returning threads so often that its next turn is a
    /// queued task's. The holder asks.
    pub(crate) fn owes_a_turn(&self, hold: &Hold) -> bool {
        // ORDERING: Relaxed: written by the holder alone, and handed on with the processor.
        self.streaks[hold.processor()].load(Ordering::Relaxed) >= STREAK
    }

    /// A queued task has its turn, or there is none.
    pub(crate) fn settle_the_turn(&self, hold: &Hold) {
        // ORDERING: Relaxed: as above.
        self.streaks[hold.processor()].store(0, Ordering::Relaxed);
    }

    /// Gives the processor to one who is back from a blocking call.
    pub(crate) fn give_back(&self, waiter: usize, hold: Hold) {
        self.count_return(&hold);
        self.give(waiter, Turn::Run(hold));
    }

    fn count_return(&self, hold: &Hold) {
        let streak = &self.streaks[hold.processor()];
        // ORDERING: Relaxed: as above.
        let returns = streak.load(Ordering::Relaxed).saturating_add(1);
        streak.store(returns, Ordering::Relaxed);
    }

    /// `machine` is about to block, and its processor is one too many: it is given up. Not to a
    /// waiter, who would pass it on in the same way.
    ///
    /// # Errors
    /// The hold, if the number of processors has been raised again.
    pub fn retire_for_call(
        &self,
        hold: Hold,
        machine: usize,
        work: &impl Work,
    ) -> Result<(), Hold> {
        self.lay_aside(hold, work, |roster| {
            self.go_away(machine);
            if let Some(lender) = roster.take_lender(machine) {
                self.stand_by(lender, roster);
            }
        })
    }

    /// `machine` is about to block: its processor goes to the longest waiter, or goes idle with a
    /// machine that stands by, who is woken at once if there is work. If it is a queued task's
    /// turn, waiters or not, that machine gets it at once. If no machine stands by, `start` is
    /// called to start one for the place that it is told, and says whether it could.
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
        let mut owes_a_turn = self.owes_a_turn(&hold);
        if owes_a_turn && !work.exists() {
            self.settle_the_turn(&hold);
            owes_a_turn = false;
        }
        let mut roster = self.roster();
        let lender = roster.take_lender(machine);
        // A bound machine that waits needs somebody to give the processor back to: it gets it from
        // the idle stack, with the substitute. And who has borrowed it gives it back.
        let passes_on = !owes_a_turn && lender.is_none() && !roster.is_next_bound();
        if passes_on && let Some(waiter) = self.next_waiter(&mut roster) {
            drop(roster);
            self.go_away(machine);
            self.give_back(waiter, hold);
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
        if owes_a_turn {
            // Not by way of the idle stack, from which the next one who is back might take it.
            self.give(substitute, Turn::Run(hold));
        } else {
            self.rest(hold, substitute, false, work);
        }
        Ok(())
    }

    pub(crate) fn go_away(&self, machine: usize) {
        // ORDERING: Relaxed: released with the processor, which is given away only now: whoever
        // finds all of them idle, finds this too.
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
        // ORDERING: Release, partner of the fence in `Idle::is_still`: whoever sees that nobody is
        // away any more, sees that a processor was taken off the stack for it.
        self.away.fetch_sub(1, Ordering::Release);
        hold
    }

    /// Takes an idle processor, or queues the machine for one: then its next turn is to run.
    pub fn try_regain(&self, machine: usize) -> Option<Hold> {
        // The one that went idle last; if nothing has happened meanwhile, the machine's old one.
        // Not past those who wait.
        if self.notice().waiting == 0
            && let Some((hold, displaced)) = self.take_idle()
        {
            self.make_room(displaced, machine, &mut self.roster());
            // ORDERING: Relaxed: for people, as long as the processor is held.
            self.attached[hold.processor()].store(machine as u32, Ordering::Relaxed);
            self.count_return(&hold);
            return Some(hold);
        }
        let mut roster = self.roster();
        roster.waiters.push_back(machine);
        self.board.add_waiting();
        // ORDERING: partner of the fence in `go_idle`. Either a processor that goes idle now sees
        // on the board that somebody waits, or we see it on the stack.
        fence(Ordering::SeqCst);
        self.serve(&mut roster);
        None
    }

    /// Between two tasks: the processor goes to whoever has waited for it longest, and the machine
    /// stands by.
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
        self.give_back(waiter, hold);
        Ok(())
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Runs `call`, which may block: a system call, a lock, a wait for something that another task
    /// does. If the calling thread is running a task of this pool, then other tasks go on
    /// meanwhile: the thread gives its processor to another thread. At the end it takes the
    /// processor that went idle last, its own if nothing happened meanwhile, or waits until a
    /// running one is between two tasks and gives its own away. Blocking.
    ///
    /// Elsewhere, or inside another `blocking`, it just runs `call`. So it does, **with the
    /// processor kept**, when the limit of threads is reached or the system refuses a thread: the
    /// others must do without. That is counted in
    /// [`ProcessorStats::blocked_in_place`](crate::ProcessorStats). A pool that has been told to
    /// [stop](Self::stop) is not over before `call` has come back: it may wait for another task as
    /// ever.
    ///
    /// If `call` panics, the panic goes on when the thread has a processor again.
    ///
    /// What `call` schedules goes to the global queue. All that happens in the task before and
    /// after happens on one thread, in order, though perhaps on two processors.
    ///
    /// Costs about two short locks and two compare-and-swaps when nobody else wants to run, and a
    /// thread's wake-up when somebody does; the first calls start threads. Not worth it for what
    /// takes less than some ten microseconds.
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
        match self.part_with(hold, current.machine) {
            Ok(()) => true,
            Err(hold) => {
                current.hold.replace(Some(hold));
                false
            }
        }
    }

    fn part_with(&self, hold: Hold, machine: usize) -> Result<(), Hold> {
        let mut hold = hold;
        // Counted before it is given away: afterwards these figures are another thread's.
        let counters = &self.queues.processors[hold.processor()].counters;
        counters.blocking_calls.add(1);
        if self.crew.notice().is_surplus(hold.processor()) {
            counters.retired.add(1);
            match self.crew.retire_for_call(hold, machine, &self.queues) {
                Ok(()) => return Ok(()),
                Err(kept) => {
                    counters.retired.take_back(1);
                    hold = kept;
                }
            }
        }
        let start = |place| self.start_thread(place);
        self.crew
            .hand_off(hold, machine, start, &self.queues)
            .inspect_err(|_| counters.blocked_in_place.add(1))
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
