//! The soak itself: phase after phase, with a look at the memory after each.

use std::time::{Duration, Instant};

use crate::account::{begin_phase, complain, found, is_clean, totals};
use crate::machine;
use crate::plan::{Flood, MOST_FLOODED, Phase};
use crate::stage::own;
use crate::stage::resident::Resident;

/// The outcome of a soak.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The number of completed phases, by kind.
    phases: Vec<(&'static str, u64)>,
    /// The memory in use when all was warm, and the most after a phase.
    warm: Memory,
    most: Memory,
    findings: Vec<String>,
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
    let mut outcome = Outcome::default();
    let Some(resident) = Resident::build() else {
        outcome.findings = found();
        return outcome;
    };
    warm_up(&resident);
    let began = Instant::now();
    outcome.warm = Memory::in_use();
    outcome.most = outcome.warm;
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
            println!("phase {number}, after it: {} bytes", machine::live_bytes());
        }
        outcome.look_at_the_memory(Memory::in_use());
        if only.is_none() {
            number += 1;
        }
    }
    resident.end();
    outcome.findings = found();
    outcome
}

fn carry_out(phase: &Phase, resident: &Resident, number: u64) {
    match phase {
        Phase::Own(plan) => own::run(plan, number),
        Phase::Resident(burst) => resident.burst(burst, number),
        Phase::Flood(flood) => resident.flood(flood, number),
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

/// Bytes in use between two phases, when all has ended.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// Bytes that were allocated and not freed.
    heap: i64,
    /// Resident bytes, as the system counts them; 0 if it does not.
    resident: i64,
}

impl Memory {
    fn in_use() -> Self {
        Self {
            heap: machine::live_bytes(),
            resident: machine::resident_bytes().unwrap_or(0),
        }
    }
}

/// The most heap that may be in use beyond that of the start: structures that grow to the size of
/// the largest phase so far, and stay.
const HEAP_BOUND: i64 = 1 << 20;

/// The same for resident memory, which also holds the allocator's fragments and stacks.
const RESIDENT_BOUND: i64 = 128 << 20;

impl Outcome {
    fn count(&mut self, title: &'static str) {
        match self.phases.iter_mut().find(|(known, _)| *known == title) {
            Some((_, count)) => *count += 1,
            None => self.phases.push((title, 1)),
        }
    }

    fn look_at_the_memory(&mut self, now: Memory) {
        let warm = self.warm;
        self.most.heap = self.most.heap.max(now.heap);
        self.most.resident = self.most.resident.max(now.resident);
        for (what, more, bound) in [
            ("", now.heap - warm.heap, HEAP_BOUND),
            ("resident ", now.resident - warm.resident, RESIDENT_BOUND),
        ] {
            if more > bound {
                complain(format!(
                    "all has ended, and {more} {what}bytes more are in use than at the beginning"
                ));
            }
        }
    }

    /// Prints the counts, the memory, and the findings.
    pub(crate) fn print(&self) {
        let phases = self
            .phases
            .iter()
            .map(|&(title, count)| (title, count as i64));
        for (title, count) in phases.chain(totals().filter(|(_, count)| *count > 0)) {
            println!("{count:>9}  {title}");
        }
        for (what, warm, most) in [
            ("live heap", self.warm.heap, self.most.heap),
            ("resident", self.warm.resident, self.most.resident),
        ] {
            println!("{what}: {warm} bytes when warm, {most} at most after a phase");
        }
        for finding in &self.findings {
            println!("VIOLATION {finding}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAP_BOUND, Memory, Outcome, RESIDENT_BOUND};
    use crate::account::found;

    /// The one test of findings: they are the process's.
    #[test]
    fn more_than_the_bound_is_told() {
        let mut outcome = Outcome::default();
        (outcome.warm.heap, outcome.warm.resident) = (100, 200);
        let mut findings = |heap, resident| {
            outcome.look_at_the_memory(Memory { heap, resident });
            found().len()
        };
        let (heap, resident) = (100 + HEAP_BOUND, 200 + RESIDENT_BOUND);
        assert_eq!(findings(heap, resident), 0);
        assert_eq!(findings(heap + 1, resident), 1);
        assert_eq!(findings(0, 0), 1);
        assert_eq!(findings(heap, resident + 1), 2);
        assert_eq!(outcome.most.heap, heap + 1);
        assert_eq!(outcome.most.resident, resident + 1);
        let [heap, resident] = &found()[..] else {
            panic!("two findings: {:?}", found());
        };
        assert!(!heap.contains("resident") && resident.contains("resident bytes"));
    }
}
