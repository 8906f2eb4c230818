//! The soak itself: phase after phase, with a look at the memory after each.

use std::time::{Duration, Instant};

use crate::account::findings::{begin_phase, complain, found, is_clean};
use crate::curve::{Curve, Sample};
use crate::machine::{heap, system};
use crate::plan::phase::{Flood, MOST_FLOODED, Phase};
use crate::stage::resident::Resident;
use crate::stage::{own, pool};

/// The outcome of a soak.
pub(crate) struct Outcome {
    pub(crate) elapsed: Duration,
    /// The number of completed phases, by kind.
    pub(crate) phases: Vec<(&'static str, u64)>,
    pub(crate) curve: Curve,
    pub(crate) findings: Vec<String>,
}

impl Outcome {
    /// Counts phases without and with a finding. A soak stops at the first finding.
    pub(crate) fn tally(&self) -> (u64, u64) {
        let phases: u64 = self.phases.iter().map(|(_, count)| count).sum();
        let failed = u64::from(!self.findings.is_empty());
        (phases - failed.min(phases), failed)
    }
}

/// The seed of the warm-up phases: always the same, so that a seed means the same plan.
const WARM_UP_SEED: u64 = 0;

/// The number of warm-up phases, after the crowd for which all slots are made.
const WARM_UP_PHASES: u64 = 12;

/// Carries out phases until `length` has passed, or one has a finding.
pub(crate) fn run(seed: u64, length: Duration, only: Option<u64>, prints_plan: bool) -> Outcome {
    let mut outcome = Outcome {
        elapsed: Duration::ZERO,
        phases: Vec::new(),
        curve: Curve::default(),
        findings: Vec::new(),
    };
    let Some(resident) = Resident::build() else {
        outcome.findings = found();
        return outcome;
    };
    warm_up(&resident);
    let began = Instant::now();
    outcome.curve.begin(sample(began));
    let mut number = only.unwrap_or(0);
    while began.elapsed() < length && is_clean() {
        let phase = Phase::draw(seed, number);
        begin_phase(seed, number);
        if prints_plan {
            println!("phase {number}: {phase:?}");
        }
        carry_out(&phase, &resident, number);
        outcome.count(phase.title());
        if prints_plan {
            println!("phase {number}, after it: {} bytes", heap::live_bytes());
        }
        if let Err(excess) = outcome.curve.add(sample(began)) {
            complain(excess);
        }
        if only.is_none() {
            number += 1;
        }
    }
    resident.end();
    outcome.elapsed = began.elapsed();
    outcome.findings = found();
    outcome
}

fn carry_out(phase: &Phase, resident: &Resident, number: u64) {
    match phase {
        Phase::Own(plan) => own::run(plan, number),
        Phase::Resident(burst) => resident.burst(burst, number),
        Phase::Flood(flood) => resident.flood(flood, number),
        Phase::Pool(plan) => pool::run(plan),
    }
}

/// Brings everything that is kept for later to its final size: the slots of the most processes at a
/// time, the tables, the threads.
fn warm_up(resident: &Resident) {
    begin_phase(WARM_UP_SEED, 0);
    let crowd = Flood {
        processes: 2 * MOST_FLOODED,
        messages: 0,
        names: 3,
        commands: 0,
        is_killed: false,
        seed: WARM_UP_SEED,
    };
    resident.flood(&crowd, 0);
    for number in 1..=WARM_UP_PHASES {
        if !is_clean() {
            return;
        }
        begin_phase(WARM_UP_SEED, number);
        carry_out(&Phase::draw(WARM_UP_SEED, number), resident, number);
    }
}

fn sample(began: Instant) -> Sample {
    Sample {
        at: began.elapsed(),
        heap: heap::live_bytes(),
        resident: system::resident_bytes().unwrap_or(0),
        threads: system::threads().unwrap_or(0),
    }
}

impl Outcome {
    fn count(&mut self, title: &'static str) {
        match self.phases.iter_mut().find(|(known, _)| *known == title) {
            Some((_, count)) => *count += 1,
            None => self.phases.push((title, 1)),
        }
    }
}
