//! The start of a machine's thread, and what happens if there is none: what the machine was told
//! goes to another thread, or its processor is *missing* until one has nothing else to do; or idle
//! again, if no other one is left. The argument is in [`architecture`](crate::architecture).

use std::io;

use filch_sync::MutexGuard;
use filch_sync::atomic::Ordering;

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::{Grant, Permit};
use crate::protocol::state::synced::Synced;

impl Coordinator {
    /// Puts the first `count` processors on the idle stack, all of which are inactive. The first
    /// `threads` of their threads, one at least, are started now.
    ///
    /// # Errors
    /// The system's error for one of these, after which the pool is to be stopped: it has as many
    /// processors as threads could be had.
    pub fn start(&self, count: usize, threads: usize, work: &impl Work) -> io::Result<()> {
        let mut synced = self.synced();
        let mut places: Vec<_> = (0..count)
            .map_while(|_| self.place_within_limit(&mut synced))
            .collect();
        drop(synced);
        let mut started = Ok(());
        let had = |&&machine: &&usize| {
            self.machine(machine).expect_thread();
            started = self.start_thread(machine, self.synced());
            started.is_ok()
        };
        let had = places.iter().take(threads).take_while(had).count();
        let mut synced = self.synced();
        if started.is_err() {
            synced.vacant.extend(places.drain(had..));
        }
        // The first one is on top in the end.
        for (processor, &machine) in places.iter().enumerate().rev() {
            let permit = match synced.over {
                true => None,
                false => self.activate(processor, &mut synced),
            };
            match permit {
                Some(permit) => _ = self.push_idle(permit, machine, false),
                None => self.tell_to_exit(machine, &mut synced),
            }
        }
        drop(synced);
        // One second look for all of them.
        if work.exists() {
            self.wake_one();
        }
        self.announce_quiescence(work);
        started
    }

    /// Starts the thread of a machine that has been granted something, or expects its thread.
    ///
    /// # Errors
    /// The system's error. The machine has no thread then, and what it was granted is others'.
    #[cold]
    pub(crate) fn start_thread(
        &self,
        machine: usize,
        mut synced: MutexGuard<'_, Synced>,
    ) -> io::Result<()> {
        synced.count_start();
        drop(synced);
        let started = self.launcher.get().map_or(Ok(()), |start| start(machine));
        started.inspect_err(|_| self.refuse(machine))
    }

    /// Hands what `machine` was told on to others: it has no thread, since the system has refused
    /// it or it cannot begin. A thread that cannot begin must ask
    /// [`is_deserted`](Self::is_deserted) afterwards.
    pub fn refuse(&self, machine: usize) {
        // Under the lock: whoever serves those in line finds it there with a thread, or not at all.
        let mut synced = self.synced();
        let grant = self.machine(machine).lose_thread();
        let is_search = matches!(grant, Some(Grant::Search(_)));
        let was_granted = is_search || matches!(grant, Some(Grant::Run(_)));
        // ORDERING: Relaxed: it changes under the lock that we have.
        let is_only = self.activated.load(Ordering::Relaxed) == 1;
        synced.count_refusal();
        let heir = match grant {
            None => {
                self.unlist(machine, &mut synced);
                None
            }
            Some(Grant::Exit) => {
                synced.leaving -= 1;
                synced.vacant.push(machine);
                None
            }
            Some(Grant::Run(permit) | Grant::Search(permit)) => {
                self.pass_on(permit, machine, is_only, &mut synced)
            }
        };
        // Guests come back to a processor, and leave it to a place.
        if !synced.over && synced.threads == synced.bindings.len() + synced.leaving {
            self.give_up(&mut synced);
        }
        drop(synced);
        if let Some((heir, permit)) = heir {
            self.grant(heir, Grant::Run(permit));
        }
        if is_search {
            let _ = self.idle.stop_searching();
        }
        if was_granted && !is_only {
            // What it was to look for, another one looks for: as when the last search ends.
            self.wake_one();
        }
    }

    /// Takes a machine without thread and grant out of the line; vacates its place if it is bound
    /// and was in line or waits for a task. Else a thread that grants it something finds it so.
    fn unlist(&self, machine: usize, synced: &mut Synced) {
        let in_line = synced.waiters.iter().position(|&waiter| waiter == machine);
        if in_line.and_then(|at| synced.waiters.remove(at)).is_some() {
            self.control.remove_waiting();
        }
        if let Some(at) = synced.binding(machine)
            && (in_line.is_some() || synced.bindings[at].waits)
        {
            synced.take_binding(at);
            synced.vacant.push(machine);
        }
    }

    /// Passes a processor on from a machine that has no thread. Returns the machine that runs there
    /// instead, if there is one. If not, the processor is missing; but the only one stays idle: all
    /// threads are in calls, and none would bring it back for a task that they wait for.
    fn pass_on(
        &self,
        permit: Permit,
        machine: usize,
        is_only: bool,
        synced: &mut Synced,
    ) -> Option<(usize, Permit)> {
        if let Some(at) = synced.binding(machine) {
            synced.take_binding(at);
        }
        let heir = self.next_waiter(synced).or_else(|| synced.spares.pop());
        if heir.is_none() && is_only {
            self.push_idle(permit, machine, false);
            return None;
        }
        synced.vacant.push(machine);
        let Some(heir) = heir else {
            self.deactivate(permit, synced);
            synced.missing += 1;
            return None;
        };
        Some((heir, permit))
    }

    /// Gives up: no thread is left for the tasks of all, and none can be had. The pool is over,
    /// whatever waits in it: at once, or when a bound machine or a guest that runs something lets
    /// go of its processor, for which no thread can be had either.
    fn give_up(&self, synced: &mut Synced) {
        self.control.stop();
        while let Some((permit, machine)) = self.take_idle() {
            self.deactivate(permit, synced);
            self.tell_to_exit(machine, synced);
        }
        // ORDERING: Relaxed, both: one that is in a call has given a processor away, which came to
        // be inactive under the lock that we have.
        let [active, away] =
            [&self.activated, &self.away].map(|count| count.load(Ordering::Relaxed));
        if active == 0 && away == 0 {
            self.end(synced);
        }
    }

    /// Takes a missing processor over.
    pub(crate) fn take_missing(&self, synced: &mut Synced) -> Option<Permit> {
        if synced.missing == 0 || synced.over {
            return None;
        }
        let found = self.take_inactive(synced);
        synced.missing = found.as_ref().map_or(0, |_| synced.missing - 1);
        found
    }

    /// Takes and activates an inactive processor that should not be so.
    fn take_inactive(&self, synced: &mut Synced) -> Option<Permit> {
        let active = self.control_word().active();
        (0..active).find_map(|processor| self.activate(processor, synced))
    }
}

/// Threads that the caller makes, and runs when it likes, or never. For each of them a processor is
/// inactive until it comes. So one that does not come is missing, and that is all: nothing waits
/// for its processor, and nothing is given to that. If none has come yet, a pool that is told to
/// stop is not over: the first one does the work that is left.
impl Coordinator {
    /// Expects `count` threads, for as many processors, all of which are inactive, and has `make`
    /// make them: it is told their places. Returns whether all could be had; if not, the pool is to
    /// be stopped.
    pub fn expect_all(&self, count: usize, mut make: impl FnMut(usize) -> bool) -> bool {
        let mut places = Vec::new();
        {
            let mut synced = self.synced();
            while places.len() < count
                && let Some(place) = self.place_within_limit(&mut synced)
            {
                self.machine(place).expect_thread();
                synced.count_start();
                places.push(place);
            }
            synced.expected += places.len();
            synced.refused += (count - places.len()) as u64;
        }
        // All places first: a thread that has come already may block, and want one more.
        let mut made = 0;
        let complete = places.len() == count
            && places.iter().all(|&place| {
                made += 1;
                make(place)
            });
        if !complete {
            self.synced().gives_up = true;
            // A place that `make` was told is given back by its thread.
            for &place in &places[made..] {
                self.expect_no_more(place);
            }
        }
        complete
    }

    /// Takes note that the thread of that place has come, with all that it needs, and tells it what
    /// to do: to run on a processor that waits for a thread, if there is one.
    pub fn arrive(&self, machine: usize) {
        let mut synced = self.synced();
        synced.expected -= 1;
        if synced.over {
            return self.tell_to_exit(machine, &mut synced);
        }
        match self.take_inactive(&mut synced) {
            Some(permit) => self.grant(machine, Grant::Run(permit)),
            // There are fewer processors now.
            None => self.become_spare(machine, &mut synced),
        }
    }

    /// Takes note that the thread of that place will not come. The caller must ask
    /// [`is_deserted`](Self::is_deserted) afterwards.
    pub fn stay_away(&self, place: usize, work: &impl Work) {
        self.expect_no_more(place);
        if self.control_word().is_stopping() {
            self.try_end(work);
        }
    }

    fn expect_no_more(&self, place: usize) {
        let mut synced = self.synced();
        synced.expected -= 1;
        synced.count_refusal();
        synced.vacant.push(place);
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::state::coordinator::Coordinator;

    #[test]
    fn places_that_were_made_for_nobody_are_given_back() {
        let coordinator = Coordinator::new(3, 3, 2, 0);
        assert!(!coordinator.expect_all(3, |_| unreachable!("there are two places")));
        let threads = coordinator.thread_stats();
        assert_eq!((threads.threads, threads.started), (0, 0));
        assert_eq!(threads.refused, 3, "the third, and for it the others");
        let mut made = Vec::new();
        let refused = |place| {
            made.push(place);
            made.len() < 2
        };
        assert!(!coordinator.expect_all(2, refused));
        assert_eq!(
            coordinator.thread_stats().threads,
            2,
            "these answer for themselves"
        );
    }
}
