//! A build with `--cfg shuttle`: a test runs under one schedule for each seed.

use filch_sync::panic::catch_panic;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use crate::seed::{Kind, Seed};

pub use shuttle::sync::{RwLock, mpsc};

/// The steps out of the plain order that a bug may need, for PCT to find it.
const DEPTH: usize = 3;

/// The size of each thread's stack.
const STACK: usize = 256 * 1024;

/// Returns a seed for each schedule, the two kinds by turns.
pub(crate) fn seeds(first: u64, schedules: usize) -> impl Iterator<Item = Option<Seed>> {
    let numbers = (0..schedules as u64).map(move |number| (number, first.wrapping_add(number / 2)));
    numbers.map(|(turn, number)| {
        let kind = [Kind::Random, Kind::Pct][(turn % 2) as usize];
        Some(Seed { kind, number })
    })
}

/// Runs the test under the schedule of that seed; without one, under the first.
///
/// # Errors
/// The message of its panic; or that it deadlocked, or took more steps.
pub(crate) fn run(
    seed: Option<Seed>,
    steps: usize,
    test: &std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> Result<(), String> {
    match seed.unwrap_or_default() {
        Seed {
            kind: Kind::Random,
            number,
        } => run_under(RandomScheduler::new_from_seed(number, 1), steps, test),
        // The first of the two runs in the plainest order, and counts the steps among which the
        // second places its changes.
        Seed {
            kind: Kind::Pct,
            number,
        } => run_under(PctScheduler::new_from_seed(number, DEPTH, 2), steps, test),
    }
}

fn run_under(
    scheduler: impl Scheduler + 'static,
    steps: usize,
    test: &std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> Result<(), String> {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(steps);
    config.silence_warnings = true;
    let test = std::sync::Arc::clone(test);
    catch_panic(|| Runner::new(scheduler, config).run(move || test())).map(drop)
}
