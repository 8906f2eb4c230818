//! A soak: schedulers under faults of all kinds, for as long as asked, with accounts of everything.
//!
//! | folder or file | content |
//! |---|---|
//! | `plan/` | the events of a phase; a seed decides them |
//! | `cast/` | the processes, futures, handler and hooks, which misbehave as planned |
//! | `account/` | values made and dropped, events and their counts, findings |
//! | `stage/` | the stages of a phase, each with what must hold at its end |
//! | `machine` | memory, threads, panics, time without progress |
//!
//! `docs/how-to-soak.md` describes its use, and what must hold.

mod account;
mod cast;
mod machine;
mod plan;
mod random;
mod soak;
mod stage;

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs())
    });
    println!("seed {seed}");
    machine::watch_panics();
    machine::watch_progress();
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

/// Runs schedulers under faults of all kinds for as long as asked, and keeps accounts of
/// everything. Exits with 0 if all checks held, with 1 if one did not, with 3 if something hangs.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The time to run.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u64,

    /// The seed of the plan; by default, it is made of the time.
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// Run only this phase of the plan, over and over.
    #[arg(long)]
    pub(crate) phase: Option<u64>,

    /// Print the plan of the phases as they begin, and the live heap after each.
    #[arg(long)]
    pub(crate) plan: bool,
}
