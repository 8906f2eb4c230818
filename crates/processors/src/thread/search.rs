//! A machine whose processor has nothing to do: it searches, spins, goes idle, and may watch other
//! processors meanwhile, as [`architecture`](crate::architecture) says.

use std::time::Instant;

use filch_parker::{AdaptiveSpinner, Spin};
use filch_sync::hint;

use crate::pool::runner::Runner;
use crate::protocol::{Grant, Permit};
use crate::queues::find_work::{PAUSES_AFTER_SPARING, StealMode, Watched};
use crate::queues::source::Found;
use crate::queues::task_queues::{Local, Shared};
use crate::thread::machine::{Machine, Vacated};

/// Rounds of a search between which the thread pauses: well under a microsecond.
const PAUSING_ROUNDS: u32 = 4;

/// Rounds after those, between which it gives its core to others.
const YIELDING_ROUNDS: u32 = 12;

/// Pauses of a processor whose tasks come from outside, before each further look: for so long the
/// producers have the queue to themselves, and one look finds more of what they have brought. Some
/// 2 µs where it was measured; the length of a pause depends on the CPU, and on some it is several
/// times as long.
const PAUSES_BESIDE_PRODUCERS: u32 = 200;

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Looks for something to do, for a processor whose deque is empty: takes what needs no search,
    /// searches, spins, goes idle. If it `looks`, it may have tasks, and reads the time first, to
    /// see whose turn it is.
    ///
    /// # Errors
    /// There is nothing, and the processor has gone idle.
    #[cold]
    #[inline(never)]
    pub(crate) fn search(&self, looks: bool) -> Result<Found<T>, Vacated> {
        let Some(permit) = self.current.permit.take() else {
            unreachable!("a machine that looks for work has a processor");
        };
        let shared = self.shared;
        let local = shared.queues.local(&permit);
        let first = match looks {
            true => local.next(shared, true),
            false => local.take_shared(shared).map(Found::Task),
        };
        let mut searching = false;
        let found = first
            .or_else(|| shared.queues.take_external_task())
            .or_else(|| {
                let active = shared.coordinator.control_word().active();
                searching = shared.coordinator.idle.try_start_searching(active);
                match searching {
                    true => self.spin(&permit),
                    // Others search, and look after the tasks: no reason to sleep beside one here.
                    false => shared.queues.source.take().map(Found::ExternalTask),
                }
            });
        match found {
            Some(found) => {
                self.current.permit.replace(Some(permit));
                Ok(found)
            }
            None => Err(self.go_idle(permit, searching)),
        }
    }

    /// Looks until there is something, or there has been nothing for a while. If there was
    /// something, the machine does not count as searching any more.
    pub(crate) fn spin(&self, permit: &Permit) -> Option<Found<T>> {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let local = shared.queues.local(permit);
        let mut spinner = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
        let mut mode = StealMode::Spare;
        // One processor alone makes its tasks runnable itself, as a rule; jobs come from outside.
        if Local::<T>::HAS_TASKS && coordinator.control_word().active() == 1 {
            (spinner, mode) = (AdaptiveSpinner::none(), StealMode::Take);
        }
        let mut has_spared = false;
        local.policy.begin_search();
        let found = loop {
            let found = match Local::<T>::HAS_TASKS {
                true => local.search(shared, mode),
                false => shared.queues.take_external_task(),
            };
            if found.is_some() || mode == StealMode::Take {
                break found;
            }
            // Take what was spared before giving up early; otherwise the second look would see it
            // and wake another searcher for it, endlessly.
            let is_last = coordinator.control_word().waiting() > 0 || spinner.spin() == Spin::Block;
            has_spared |= local.policy.has_spared();
            let pauses = match local.is_fed.get() {
                true => PAUSES_BESIDE_PRODUCERS,
                false if has_spared => PAUSES_AFTER_SPARING,
                false => 0,
            };
            hint::pause(pauses);
            mode = match is_last {
                true => StealMode::Take,
                false => mode_after(spinner.rounds()),
            };
        };
        let counters = shared.queues.counters(permit.processor());
        counters.spins.add(spinner.rounds().into());
        if found.is_some() {
            local.policy.has_found();
            coordinator.stop_searching(&shared.queues);
        }
        found
    }

    /// Makes the processor idle; the machine must wait with it, or for whatever it is told.
    pub(crate) fn go_idle(&self, permit: Permit, searching: bool) -> Vacated {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let processor = permit.processor();
        let counters = shared.queues.counters(processor);
        counters.parks.add(1);
        let mut watched = Vec::new();
        if Local::<T>::HAS_TASKS {
            let local = shared.queues.local(&permit);
            // What a burst of tasks took.
            local.deque.shrink_to(1024);
            local.fair.clock.pause();
            if searching && !shared.watch_interval.is_zero() {
                let processors = shared.queues.in_reach();
                let run = processors.map(|processor| processor.counters.run.get());
                watched = local.policy.ends_in_vain(run, |victim| {
                    victim != processor && coordinator.try_watch(victim, self.number)
                });
            }
        }
        if !watched.is_empty() {
            counters.watches.add(1);
        }
        // Before, so that ours, which has a thread, is on top of the stack.
        coordinator.restore_missing(&shared.queues);
        coordinator.go_idle(permit, self.number, searching, &shared.queues);
        Vacated { watched, processor }
    }

    /// Looks, once per watch interval, as long as the processors that the machine watches run one
    /// task after the other, and some processor is idle: the machine's own one is, also while a
    /// guest has it. The machine has gone idle or is going to be told something else. Returns what
    /// it is told to do next, if it has been told.
    #[cold]
    pub(crate) fn watch(&self, mut watched: Vec<Watched>, processor: usize) -> Option<Grant> {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let grant = loop {
            let deadline = Instant::now() + shared.watch_interval;
            let grant = coordinator.wait_until(self.number, self.parker, deadline);
            if grant.is_some()
                || coordinator.idle.is_empty() && coordinator.attached(processor) != self.number
                || watched
                    .iter_mut()
                    .any(|watched| stands_still(watched, shared))
            {
                break grant;
            }
        };
        let watched = watched.iter().map(|watched| watched.victim);
        coordinator.end_watches(watched, &shared.queues);
        grant
    }
}

/// Returns the treatment of a victim's only task in a round after `rounds` others.
fn mode_after(rounds: u32) -> StealMode {
    match rounds {
        ..PAUSING_ROUNDS => StealMode::Spare,
        rounds if rounds < PAUSING_ROUNDS + YIELDING_ROUNDS => StealMode::SpareOnce,
        _ => StealMode::Take,
    }
}

/// Returns, after an interval, whether the processor has run nothing since, or has a task and does
/// not come for it.
fn stands_still<T: Send + 'static>(watched: &mut Watched, shared: &Shared<T>) -> bool {
    let victim = shared.queues.processor(watched.victim);
    let run = victim.counters.run.get();
    if run == std::mem::replace(&mut watched.run, run) {
        return true;
    }
    let sole = victim.stealer.sole();
    sole.is_some() && {
        hint::pause(PAUSES_AFTER_SPARING);
        victim.stealer.sole() == sole
    }
}

#[cfg(test)]
mod tests {
    use super::mode_after;
    use crate::queues::find_work::StealMode::{Spare, SpareOnce, Take};

    #[test]
    fn rounds_become_less_sparing() {
        let modes = [0, 3, 4, 15, 16].map(mode_after);
        assert_eq!(modes, [Spare, Spare, SpareOnce, SpareOnce, Take]);
    }
}
