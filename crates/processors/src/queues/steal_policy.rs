//! Stealing: which victim a thief begins with, and whether it takes a victim's only task, or leaves it
//! to the victim for a while.
//!
//! The victim is likely to come for that task next, and has its data at hand; a thief that took it
//! would soon be robbed of the next one in return. So the rounds of a search spare it at first. The
//! last round takes it, unless the victim has come for one task after the other meanwhile: then the
//! thief watches it when it goes idle. So it does if it was woken again and again, and each time the
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
pub(crate) const QUICK: u64 = 4;

/// Searches in vain that may follow the first one before the thief watches whoever made it search.
/// Where tasks take longer than a search, none of these sees that the victim is quick.
pub(crate) const SEARCHES_IN_VAIN: u32 = 4;

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

/// Picks victims: xorshift64*, a few instructions per number (Vigna, "An experimental exploration
/// of Marsaglia's xorshift generators, scrambled", 2016). Thieves need to differ from each other,
/// not to be unpredictable.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    /// Makes one sequence per seed. Consecutive seeds are spread by an odd constant, and none
    /// becomes zero.
    pub(crate) fn new(seed: usize) -> Self {
        Self(Cell::new(
            (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        ))
    }

    /// Returns a number below `n`, which is not zero.
    pub(crate) fn below(&self, n: usize) -> usize {
        let mut state = self.0.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.0.set(state);
        let high = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * n as u64) >> 32) as usize
    }
}
