//! A machine whose processor has nothing to do: it searches, spins, and goes idle.

use filch_parker::{AdaptiveSpinner, Spin};
use filch_sync::hint;

use crate::pool::runner::Runner;
use crate::protocol::Permit;
use crate::queues::source::Found;
use crate::queues::steal_policy::{
    PAUSES_AFTER_SPARING, PAUSING_ROUNDS, StealMode, YIELDING_ROUNDS,
};
use crate::thread::machine::{Machine, Vacated};

/// Pauses of a processor whose tasks come from outside, before each further look: for so long the
/// producers have the queue to themselves, and one look finds more of what they have brought. Some
/// 2 µs where it was measured; the length of a pause depends on the CPU, and on some it is several
/// times as long.
const PAUSES_BESIDE_PRODUCERS: u32 = 200;

/// The outcome of a search.
pub(crate) enum Searched<T> {
    Found(Found<T>),
    /// Nothing, and the processor has gone idle.
    Nothing(Vacated),
}

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Looks for something to do, for a processor that has no task, or if it is the source's turn:
    /// takes a piece, searches, spins, goes idle.
    pub(crate) fn search(&self) -> Searched<T> {
        let Some(permit) = self.current.permit.take() else {
            unreachable!("a machine that looks for work has a processor");
        };
        let permit = match self.shared.coordinator.has_resting() {
            false => permit,
            true => match self.look_after_resting(permit) {
                Ok(searched) => return searched,
                Err(permit) => permit,
            },
        };
        let shared = self.shared;
        let local = shared.queues.locals.get(&permit);
        let mut searching = false;
        let found = local
            .take_turn_of_source(shared)
            .or_else(|| local.take_piece(shared))
            .or_else(|| {
                searching = shared.coordinator.idle.try_start_searching(shared.count());
                match searching {
                    true => self.spin(&permit),
                    // Others search, and look after the tasks: no reason to sleep beside a piece.
                    false => shared.queues.source.take().map(Found::Piece),
                }
            });
        match found {
            Some(found) => {
                self.current.permit.replace(Some(permit));
                Searched::Found(found)
            }
            None => Searched::Nothing(self.go_idle(permit, searching)),
        }
    }

    /// Finds a task, and no piece, while a machine rests; if no task is left, gives that machine
    /// the processor.
    ///
    /// # Errors
    /// The permit, if no machine rests any more.
    #[cold]
    fn look_after_resting(&self, permit: Permit) -> Result<Searched<T>, Permit> {
        let local = self.shared.queues.locals.get(&permit);
        local.fair.is_sources_turn.set(false);
        if let Some(task) = local.any_task(self.shared) {
            self.current.permit.replace(Some(permit));
            return Ok(Searched::Found(Found::Task(task)));
        }
        local.fair.clock.pause();
        let coordinator = &self.shared.coordinator;
        coordinator.hand_to_resting(permit, self.number)?;
        Ok(Searched::Nothing(Vacated::default()))
    }

    /// Looks until there is something, or there has been nothing for a while. If there was
    /// something, the machine does not count as searching any more.
    pub(crate) fn spin(&self, permit: &Permit) -> Option<Found<T>> {
        let shared = self.shared;
        let coordinator = &shared.coordinator;
        let local = shared.queues.locals.get(permit);
        let (mut spinner, mut mode) = if shared.count() == 1 {
            (AdaptiveSpinner::none(), StealMode::Take)
        } else {
            let spinner = AdaptiveSpinner::with_rounds(PAUSING_ROUNDS, YIELDING_ROUNDS);
            (spinner, StealMode::Spare)
        };
        let mut has_spared = false;
        local.policy.begin_search();
        let found = loop {
            let found = local.search(shared, mode);
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
                false => StealMode::of_round(spinner.rounds()),
            };
        };
        let counters = &shared.queues.processors[permit.processor()].counters;
        counters.spins.add(spinner.rounds().into());
        if found.is_some() {
            local.policy.has_found();
            if local.policy.has_watched() {
                self.cancel_watches(local);
            }
            coordinator.stop_searching(&shared.queues);
        }
        found
    }

    /// Makes the processor idle; the machine must wait with it, or for whatever it is told.
    pub(crate) fn go_idle(&self, permit: Permit, searching: bool) -> Vacated {
        let shared = self.shared;
        // What a burst of tasks took.
        shared.queues.locals.get(&permit).deque.shrink_to(1024);
        let counters = &shared.queues.processors[permit.processor()].counters;
        counters.parks.add(1);
        let local = shared.queues.locals.get(&permit);
        local.fair.clock.pause();
        if searching && !shared.watch_interval.is_zero() {
            let processors = shared.queues.in_reach().iter();
            let run = processors.map(|processor| processor.counters.run.get());
            let own = permit.processor();
            local.policy.ends_in_vain(run, |victim| {
                victim != own && shared.coordinator.try_watch(victim, self.number)
            });
        }
        let vacated = match local.policy.has_watched() {
            false => Vacated::default(),
            true => self.leave_watching(local, counters, permit.processor()),
        };
        let coordinator = &shared.coordinator;
        coordinator.go_idle(permit, self.number, searching, &shared.queues);
        coordinator.restore_missing(&shared.queues);
        vacated
    }
}
