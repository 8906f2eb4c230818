//! The policy on a victim's only task: a thief takes it, or leaves it to the victim for a while.
//!
//! The victim is likely to come for that task next, and has its data at hand; a thief that took it
//! would soon be robbed of the next one in return. So the rounds of a search spare it at first. The
//! last round takes it, unless the victim has come for one task after the other meanwhile: then the
//! thief watches it (`watching.rs`). So it does if it was woken again and again, and each time the
//! victim had come for the task before the search began.

use std::cell::{Cell, RefCell};
use std::mem;

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
#[derive(Debug)]
struct SparedVictim {
    victim: usize,
    /// The task that was spared last, before the last round.
    sole: Sole,
    /// The tasks that it had run when the first one was spared.
    run: u64,
    /// `true` if the last round spared one: the victim comes for its tasks by itself.
    is_quick: bool,
}

/// A processor that a thief watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub(crate) victim: usize,
    /// The tasks that it had run when its watcher looked last.
    pub(crate) run: u64,
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

    /// Returns whether the victim's only task, `sole`, is left to it, in a round before the last.
    /// `run` counts the tasks that the victim has run.
    pub(crate) fn spares(&self, mode: StealMode, victim: usize, sole: Sole, run: &Counter) -> bool {
        let mut spared = self.spared.borrow_mut();
        let spares = match spared.iter_mut().find(|known| known.victim == victim) {
            Some(known) => mode == StealMode::Spare || mem::replace(&mut known.sole, sole) != sole,
            None => {
                spared.push(SparedVictim {
                    victim,
                    sole,
                    run: run.get(),
                    is_quick: false,
                });
                true
            }
        };
        if spares {
            self.has_spared.set(true);
        }
        spares
    }

    /// Returns whether the victim's only task is left to it in the last round as well: it has run
    /// so many since the first was spared that its next one can wait for a watch interval.
    pub(crate) fn is_quick(&self, victim: usize, run: &Counter) -> bool {
        let mut spared = self.spared.borrow_mut();
        let known = spared.iter_mut().find(|known| known.victim == victim);
        known.is_some_and(|known| {
            known.is_quick = run.get().wrapping_sub(known.run) >= QUICK;
            known.is_quick
        })
    }

    /// Notes that the search has found something.
    pub(crate) fn has_found(&self) {
        self.in_vain.set(0);
    }

    /// Ends a search in vain; `run` are the tasks that each processor has run. The quick ones are
    /// offered to `watch`, which says whether the thief watches them; and after some such searches
    /// in a row, all that have run their tasks themselves meanwhile.
    pub(crate) fn ends_in_vain(
        &self,
        run: impl Iterator<Item = u64> + Clone,
        mut watch: impl FnMut(usize) -> bool,
    ) -> Vec<Watched> {
        let before = self.in_vain.replace(self.in_vain.get() + 1);
        let mut first = self.run.borrow_mut();
        if before == 0 {
            first.clear();
            first.extend(run.clone());
        }
        let is_patient = before < SEARCHES_IN_VAIN;
        if !is_patient {
            self.in_vain.set(0);
        }
        let spared = self.spared.borrow();
        let watched = run.enumerate().filter(|&(victim, run)| {
            let ran_all = || matches!(first.get(victim), Some(first) if run - first >= QUICK);
            let is_quick = |known: &SparedVictim| known.victim == victim && known.is_quick;
            (spared.iter().any(is_quick) || !is_patient && ran_all()) && watch(victim)
        });
        watched
            .map(|(victim, run)| Watched { victim, run })
            .collect()
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
        let spares = |mode| policy.spares(mode, 7, sole(&worker), &run);
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
        assert!(!policy.has_spared() && !policy.is_quick(7, &run));
    }

    #[test]
    fn only_a_quick_victim_that_was_spared_is_watched() {
        let (policy, run) = (StealPolicy::default(), Counter::default());
        let worker = Worker::new();
        worker.push(1);
        policy.begin_search();
        assert!(!policy.is_quick(7, &run), "not spared yet");
        policy.spares(StealMode::Spare, 7, sole(&worker), &run);
        run.add(QUICK - 1);
        assert!(!policy.is_quick(7, &run));
        let all = || [0; 9].into_iter();
        assert!(policy.ends_in_vain(all(), |_| true).is_empty());
        run.add(1);
        assert!(policy.is_quick(7, &run) && !policy.is_quick(8, &run));
        assert!(policy.ends_in_vain(all(), |_| false).is_empty(), "another does");
        let watched = policy.ends_in_vain(all(), |_| true);
        assert!(watched.len() == 1 && watched[0].victim == 7);
    }

    /// A failure: a thief goes on searching in vain for ever, or watches one that has rested.
    #[test]
    fn who_makes_a_thief_search_in_vain_is_watched() {
        let policy = StealPolicy::default();
        let search = |run: u64| {
            policy.begin_search();
            policy.ends_in_vain([run, 7].into_iter(), |_| true)
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
