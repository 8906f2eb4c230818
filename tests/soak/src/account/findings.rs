//! What was found wrong, and in which stage of which phase.

use std::sync::Mutex;

use crate::account::count::{Count, lock};

/// Where the program is.
static PLACE: Mutex<Place> = Mutex::new(Place {
    seed: 0,
    phase: 0,
    stage: "start",
});

static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Raised by everything that gets further; what the watchdog looks at.
static PROGRESS: Count = Count::new();

/// More than that of one phase tell nothing new.
const MOST_PRINTED: usize = 20;

/// A seed, and how far its plan has been carried out.
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

/// How often something got further.
pub(crate) fn progress_so_far() -> i64 {
    PROGRESS.get()
}

/// Something does not hold: prints it with what repeats it, and keeps it.
pub(crate) fn complain(message: impl Into<String>) {
    let (place, message) = (place(), message.into());
    let mut found = lock(&FOUND);
    if found.len() < MOST_PRINTED {
        let Place { seed, phase, .. } = place;
        eprintln!("VIOLATION ({place}): {message}\n  again: --seed {seed} --phase {phase}");
    }
    found.push(format!("{place}: {message}"));
}

/// All that was found so far.
pub(crate) fn found() -> Vec<String> {
    lock(&FOUND).clone()
}

pub(crate) fn is_clean() -> bool {
    lock(&FOUND).is_empty()
}
