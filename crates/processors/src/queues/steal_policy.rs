//! Whether a thief takes a victim's only task, or leaves it to the victim for a while.
//!
//! The victim is likely to come for that task next, and has its data at hand; a thief that took it
//! would soon be robbed of the next one in return. So the rounds of a search spare it at first. The
//! last round takes it, unless the victim has come for one task after the other meanwhile: then the
//! thief watches it (`watching.rs`).

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

/// What a round of a search does about a victim's only task.
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
    /// For a round after `rounds` others.
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
    /// The task that was spared last.
    sole: Sole,
    /// How many tasks it had run when the first one was spared, or when its watcher looked last.
    pub(crate) run: u64,
    /// Whether the thief watches it.
    watched: bool,
}

impl SparedVictim {
    /// Whether the victim has run so many tasks since the first was spared that its next one can be
    /// left to it for a watch interval.
    fn is_quick(&self, run: u64) -> bool {
        run.wrapping_sub(self.run) >= QUICK
    }
}

/// The victims that one processor's search has spared.
#[derive(Debug, Default)]
pub(crate) struct StealPolicy {
    /// Since the last [`begin_search`](Self::begin_search).
    spared: RefCell<Vec<SparedVictim>>,
    /// Whether the last round spared any.
    has_spared: Cell<bool>,
    /// Whether any of them is watched.
    has_watched: Cell<bool>,
}

impl StealPolicy {
    /// A search of some rounds begins.
    pub(crate) fn begin_search(&self) {
        self.spared.borrow_mut().clear();
    }

    /// A round through all victims begins.
    pub(crate) fn begin_round(&self) {
        self.has_spared.set(false);
    }

    /// Whether the last round spared a task.
    pub(crate) fn has_spared(&self) -> bool {
        self.has_spared.get()
    }

    /// Whether the victim's only task, `sole`, is left to it. `run` counts the tasks that the
    /// victim has run. `is_watched` is asked in the mode [`Take`](StealMode::Take) alone.
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
                        mode == StealMode::Spare || std::mem::replace(&mut known.sole, sole) != sole
                    }
                    None => {
                        spared.push(SparedVictim {
                            victim,
                            sole,
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

    /// Whether the search has begun to watch a victim.
    pub(crate) fn has_watched(&self) -> bool {
        self.has_watched.get()
    }

    /// Marks a victim that was spared and is quick as watched, if `try_watch` agrees. Whether it
    /// did.
    pub(crate) fn watch_if_quick(
        &self,
        victim: usize,
        run: &Counter,
        try_watch: impl FnOnce() -> bool,
    ) -> bool {
        let mut spared = self.spared.borrow_mut();
        let Some(known) = spared.iter_mut().find(|known| known.victim == victim) else {
            return false;
        };
        known.watched = known.is_quick(run.get()) && try_watch();
        if known.watched {
            self.has_watched.set(true);
        }
        known.watched
    }

    /// The search has ended: the victims that the thief watches.
    pub(crate) fn take_watched(&self) -> Vec<SparedVictim> {
        self.has_watched.set(false);
        let mut spared = self.spared.borrow_mut();
        spared.extract_if(.., |known| known.watched).collect()
    }
}
