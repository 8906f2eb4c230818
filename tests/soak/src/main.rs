//! A soak: schedulers under faults of all kinds, for as long as asked, with accounts of everything.
//!
//! | folder | content |
//! |---|---|
//! | `plan/` | the events of a phase; a seed decides them |
//! | `cast/` | the processes, futures, handler and hooks, which misbehave as planned |
//! | `account/` | values made and dropped, events and their counts, findings |
//! | `stage/` | the stages of a phase, each with what must hold at its end |
//! | `machine/` | memory, threads, panics, time without progress |
//!
//! `docs/how-to-soak.md` describes its use and its findings.

mod account;
mod cast;
mod machine;
mod options;
mod plan;
mod random;
mod soak;
mod stage;

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;

use options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs())
    });
    println!("seed {seed}");
    machine::panics::watch();
    machine::watchdog::start();
    let length = Duration::from_secs(options.seconds);
    let outcome = soak::run(seed, length, options.phase, options.plan);
    outcome.print();
    let (passed, failed) = outcome.tally();
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
