//! The findings, with the stage and the phase of each.

use std::sync::Mutex;

use crate::account::{Count, lock};

/// The current place in the plan.
static PLACE: Mutex<Place> = Mutex::new(Place {
    seed: 0,
    phase: 0,
    stage: "start",
});

static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Raised by all progress; the watchdog looks at it.
static PROGRESS: Count = Count::new();

/// The most findings of one phase that are printed: more tell nothing new.
const MOST_PRINTED: usize = 20;

/// A seed, and the place that its plan has reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) seed: u64,
    pub(crate) phase: u64,
    pub(crate) stage: &'static str,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, phase, stage } = self;
        write!(f, "seed {seed}, phase {phase}, {stage}")
    }
}

pub(crate) fn begin_phase(seed: u64, phase: u64) {
    *lock(&PLACE) = Place {
        seed,
        phase,
        stage: "begin",
    };
    progress();
}

pub(crate) fn begin_stage(stage: &'static str) {
    lock(&PLACE).stage = stage;
    progress();
}

pub(crate) fn place() -> Place {
    *lock(&PLACE)
}

pub(crate) fn progress() {
    PROGRESS.add(1);
}

/// Returns the count of all progress.
pub(crate) fn progress_so_far() -> i64 {
    PROGRESS.get()
}

/// Notes something that does not hold, and prints it with the options that repeat it.
pub(crate) fn complain(message: impl Into<String>) {
    let (place, message) = (place(), message.into());
    let mut found = lock(&FOUND);
    if found.len() < MOST_PRINTED {
        let Place { seed, phase, .. } = place;
        eprintln!("VIOLATION ({place}): {message}\n  again: --seed {seed} --phase {phase}");
    }
    found.push(format!("{place}: {message}"));
}

/// Returns all findings so far.
pub(crate) fn found() -> Vec<String> {
    lock(&FOUND).clone()
}

pub(crate) fn is_clean() -> bool {
    lock(&FOUND).is_empty()
}
