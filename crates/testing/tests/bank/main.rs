//! A bank with a race in it: the test finds it by the missing money, and runs its schedule again.
//! Without the race the same schedules pass.

mod accounts;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_testing::{Exploration, IS_SYSTEMATIC, explore, replay};

use accounts::{Log, careful_transfer, hasty_transfer, two_transfers};

/// The number of schedules within which the race is found.
const SCHEDULES: usize = 200;

// ANCHOR: found
/// A failure: `no schedule lost money`; or another symptom than the missing money.
#[test]
fn the_planted_race_is_found_and_replayed() {
    let found = Exploration::new(SCHEDULES).find(|| two_transfers(hasty_transfer, &Log::default()));
    if !IS_SYSTEMATIC {
        // On real threads only luck finds it.
        return;
    }
    let failure = found.expect_err("no schedule lost money");
    println!("{failure}");
    assert!(failure.message().contains("money is lost"), "{failure}");
    let seed = failure.seed().expect("schedules have seeds");
    for _ in 0..3 {
        let again = Exploration::new(1)
            .find_at(seed, || two_transfers(hasty_transfer, &Log::default()))
            .expect_err("the same schedule did not lose money");
        assert_eq!(again.message(), failure.message());
    }
}
// ANCHOR_END: found

/// The replayed execution is the same, message by message, and not just of the same outcome.
#[test]
fn a_replay_is_the_same_execution() {
    if !IS_SYSTEMATIC {
        return;
    }
    let execution = |seed: &str| {
        let log = Log::default();
        let test = {
            let log = log.clone();
            move || two_transfers(hasty_transfer, &log)
        };
        let outcome = Exploration::new(1).find_at(seed.parse().unwrap(), test);
        (outcome.is_ok(), log.take())
    };
    let seeds = (0..20).flat_map(|number| [format!("random:{number}"), format!("pct:{number}")]);
    let executions: HashSet<_> = seeds
        .map(|seed| {
            let first = execution(&seed);
            assert_eq!(first, execution(&seed), "{seed}");
            first
        })
        .collect();
    assert!(executions.len() > 10, "{} executions", executions.len());
}

/// The message that a user reads names the call to make.
#[test]
fn a_failure_says_how_to_run_it_again() {
    if !IS_SYSTEMATIC {
        return;
    }
    let printed = panic_of(|| {
        explore(SCHEDULES, || two_transfers(hasty_transfer, &Log::default()));
    });
    let (_, seed) = printed
        .split_once("FILCH_TESTING_SEED=")
        .expect("it is named");
    let seed = seed.split(' ').next().unwrap().to_owned();
    assert!(
        printed.contains("a_failure_says_how_to_run_it_again"),
        "{printed}"
    );
    let again = panic_of(move || {
        replay(&seed, || two_transfers(hasty_transfer, &Log::default()));
    });
    assert!(again.contains("money is lost"), "{again}");
}

// ANCHOR: corrected
#[test]
fn the_corrected_bank_passes_the_same_schedules() {
    let passed =
        Exploration::new(SCHEDULES).find(|| two_transfers(careful_transfer, &Log::default()));
    let passed = passed.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(passed, if IS_SYSTEMATIC { SCHEDULES } else { 20 });
}
// ANCHOR_END: corrected

/// Returns the message of the panic of `code`.
fn panic_of(code: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(code)).expect_err("it did not panic");
    *payload.downcast().expect("a message is a string")
}
