//! The policy on a victim's only task: a thief takes it, or leaves it to the victim for a while.
//!
//! The victim is likely to come for that task next, and has its data at hand; a thief that took it
//! would soon be robbed of the next one in return. So the rounds of a search spare it at first. The
//! last round takes it, unless the victim has come for one task after the other meanwhile: then the
//! thief watches it (`watching.rs`). So it does if it was woken again and again, and each time the
//! victim had come for the task before the search began.

use std::cell::{Cell, RefCell};

use filch_deque::Sole;

use crate::stats::Counter;

/// Rounds of a search between which the thread pauses: well under a microsecond.
pub(crate) const PAUSING_ROUNDS: u32 = 4;

/// Rounds after those, between which it gives its core to others.
pub(crate) const YIELDING_ROUNDS: u32 = 12;

/// Pauses after a round that has spared a task, before each further look, which takes a cache line
/// from the victim.
pub(crate) const PAUSES_AFTER_SPARING: u32 = 64;

/// Tasks that a victim must have run, since a search first spared one, to be trusted to come for
/// the next one as well.
const QUICK: u64 = 4;

/// Searches in vain that may follow the first one before the thief watches whoever made it search.
/// Where tasks take longer than a search, none of these sees that the victim is quick.
const SEARCHES_IN_VAIN: u32 = 4;

/// The treatment of a victim's only task in a round of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StealMode {
    /// Spares it.
    Spare,
    /// Spares it, unless it is the one that was spared before.
    SpareOnce,
    /// Takes it, unless the victim is watched.
    Take,
}

impl StealMode {
    /// Returns the mode of a round after `rounds` others.
    pub(crate) fn of_round(rounds: u32) -> Self {
        match rounds {
            ..PAUSING_ROUNDS => Self::Spare,
            rounds if rounds < PAUSING_ROUNDS + YIELDING_ROUNDS => Self::SpareOnce,
            _ => Self::Take,
        }
    }
}

/// A processor whose only task was left to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparedVictim {
    pub(crate) victim: usize,
    /// The task that was spared last, if one was.
    sole: Option<Sole>,
    /// The tasks that it had run when the first one was spared, or when its watcher looked last.
    pub(crate) run: u64,
    /// `true` if the thief watches it.
    watched: bool,
}

/// The victims that one processor's search has spared.
#[derive(Debug, Default)]
pub(crate) struct StealPolicy {
    /// Since the last [`begin_search`](Self::begin_search).
    spared: RefCell<Vec<SparedVictim>>,
    /// `true` if the last round spared any.
    has_spared: Cell<bool>,
    /// Searches in a row that were in vain.
    in_vain: Cell<u32>,
    /// The tasks that each processor had run at the end of the first of them.
    run: RefCell<Vec<u64>>,
}

impl StealPolicy {
    /// Begins a search of some rounds.
    pub(crate) fn begin_search(&self) {
        self.spared.borrow_mut().clear();
    }

    /// Begins a round through all victims.
    pub(crate) fn begin_round(&self) {
        self.has_spared.set(false);
    }

    /// Returns whether the last round spared a task.
    pub(crate) fn has_spared(&self) -> bool {
        self.has_spared.get()
    }

    /// Returns whether the victim's only task, `sole`, is left to it. `run` counts the tasks that
    /// the victim has run. `is_watched` is asked in the mode [`Take`](StealMode::Take) alone.
    pub(crate) fn spares(
        &self,
        mode: StealMode,
        victim: usize,
        sole: Sole,
        run: &Counter,
        is_watched: impl FnOnce() -> bool,
    ) -> bool {
        let spares = match mode {
            StealMode::Take => is_watched(),
            StealMode::Spare | StealMode::SpareOnce => {
                let mut spared = self.spared.borrow_mut();
                match spared.iter_mut().find(|known| known.victim == victim) {
                    Some(known) => {
                        mode == StealMode::Spare || known.sole.replace(sole) != Some(sole)
                    }
                    None => {
                        spared.push(SparedVictim {
                            victim,
                            sole: Some(sole),
                            run: run.get(),
                            watched: false,
                        });
                        true
                    }
                }
            }
        };
        if spares {
            self.has_spared.set(true);
        }
        spares
    }

    /// Returns whether the victim has run so many tasks since the first was spared that its next
    /// one can be left to it for a watch interval.
    pub(crate) fn is_quick(&self, victim: usize, run: &Counter) -> bool {
        let spared = self.spared.borrow();
        let known = spared.iter().find(|known| known.victim == victim);
        known.is_some_and(|known| run.get().wrapping_sub(known.run) >= QUICK)
    }

    /// Notes that the search has found something.
    pub(crate) fn has_found(&self) {
        self.in_vain.set(0);
    }

    /// Ends a search in vain; `run` are the tasks that each processor has run. After some such
    /// searches in a row, those that have run their tasks themselves all the time are offered to
    /// `watch`, which says whether the thief watches them.
    pub(crate) fn ends_in_vain(
        &self,
        run: impl Iterator<Item = u64>,
        mut watch: impl FnMut(usize) -> bool,
    ) {
        let before = self.in_vain.replace(self.in_vain.get() + 1);
        if before == 0 {
            let mut first = self.run.borrow_mut();
            first.clear();
            first.extend(run);
        } else if before == SEARCHES_IN_VAIN {
            self.in_vain.set(0);
            let mut spared = self.spared.borrow_mut();
            for (victim, (run, first)) in run.zip(&*self.run.borrow()).enumerate() {
                if run.wrapping_sub(*first) >= QUICK && watch(victim) {
                    spared.retain(|known| known.victim != victim);
                    spared.push(SparedVictim {
                        victim,
                        sole: None,
                        run,
                        watched: true,
                    });
                }
            }
        }
    }

    /// Marks this victim, which was spared, as watched by the thief from now on.
    pub(crate) fn mark_watched(&self, victim: usize) {
        let mut spared = self.spared.borrow_mut();
        if let Some(known) = spared.iter_mut().find(|known| known.victim == victim) {
            known.watched = true;
        }
    }

    /// Ends the search, and returns the victims that the thief watches.
    pub(crate) fn take_watched(&self) -> Vec<SparedVictim> {
        let mut spared = self.spared.borrow_mut();
        spared.extract_if(.., |known| known.watched).collect()
    }
}

#[cfg(test)]
mod tests {
    use filch_deque::{Sole, Worker};

    use super::{QUICK, SEARCHES_IN_VAIN, StealMode, StealPolicy};
    use crate::stats::Counter;

    /// The victim's only task.
    fn sole(worker: &Worker<u32>) -> Sole {
        worker.stealer().sole().expect("there is one")
    }

    #[test]
    fn a_task_is_spared_until_it_is_found_again() {
        let (policy, run) = (StealPolicy::default(), Counter::default());
        let worker = Worker::new();
        worker.push(1);
        let spares = |mode| policy.spares(mode, 7, sole(&worker), &run, || false);
        policy.begin_search();
        policy.begin_round();
        assert!(spares(StealMode::Spare), "not seen before");
        assert!(spares(StealMode::Spare), "however often");
        assert!(!spares(StealMode::SpareOnce), "the same one");
        worker.pop();
        worker.push(2);
        assert!(spares(StealMode::SpareOnce), "another one");
        assert!(!spares(StealMode::SpareOnce), "and again");
        assert!(policy.has_spared());
        policy.begin_round();
        assert!(!spares(StealMode::Take) && !policy.has_spared());
    }

    #[test]
    fn only_a_quick_victim_that_was_spared_is_watched() {
        let (policy, run) = (StealPolicy::default(), Counter::default());
        let worker = Worker::new();
        worker.push(1);
        policy.begin_search();
        assert!(!policy.is_quick(7, &run), "not spared yet");
        policy.spares(StealMode::Spare, 7, sole(&worker), &run, || false);
        run.add(QUICK - 1);
        assert!(!policy.is_quick(7, &run));
        run.add(1);
        assert!(policy.is_quick(7, &run) && !policy.is_quick(8, &run));
        assert!(policy.take_watched().is_empty());
        policy.mark_watched(7);
        let watched = policy.take_watched();
        assert!(watched.len() == 1 && watched[0].victim == 7);
        assert!(policy.take_watched().is_empty());
    }

    /// A failure: a thief goes on searching in vain for ever, or watches one that has rested.
    #[test]
    fn who_makes_a_thief_search_in_vain_is_watched() {
        let policy = StealPolicy::default();
        let search = |run: u64| {
            policy.begin_search();
            policy.ends_in_vain([run, 7].into_iter(), |_| true);
            policy.take_watched()
        };
        let nothing = |run| assert!(search(run).is_empty(), "after {run}");
        (0..4).for_each(nothing);
        policy.has_found();
        (4..8).for_each(nothing);
        let watched = search(8);
        assert!(watched.len() == 1 && watched[0].victim == 0 && watched[0].run == 8);
        (9..9 + u64::from(SEARCHES_IN_VAIN)).for_each(nothing);
    }

    #[test]
    fn rounds_become_less_sparing() {
        let modes: Vec<_> = [0, 3, 4, 15, 16].map(StealMode::of_round).into();
        assert_eq!(
            modes,
            [
                StealMode::Spare,
                StealMode::Spare,
                StealMode::SpareOnce,
                StealMode::SpareOnce,
                StealMode::Take
            ]
        );
    }
}
