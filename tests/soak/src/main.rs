//! A soak: schedulers under faults of all kinds, for as long as asked, with accounts of everything.
//!
//! | folder | what is in it |
//! |---|---|
//! | `plan/` | what happens in a phase; a seed decides it |
//! | `cast/` | the processes, futures, handler and hooks, which misbehave as planned |
//! | `account/` | what was made and is gone, what happened, what was found wrong |
//! | `stage/` | the stages of a phase, each with what must hold at its end |
//! | `machine/` | memory, threads, panics, time that passes without progress |
//!
//! `docs/how-to-soak.md` says how to use it, and what it has found.

mod account;
mod cast;
mod curve;
mod machine;
mod options;
mod plan;
mod random;
mod report;
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
    if let Some(file) = &options.report
        && let Err(error) = std::fs::write(file, report::markdown(seed, &outcome))
    {
        eprintln!("cannot write {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    print!("{}", report::text(&outcome));
    let (passed, failed) = outcome.tally();
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
