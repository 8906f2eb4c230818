//! `cargo xtask shuttle`: whole pools and schedulers under randomised schedules, and how many each
//! test ran.
//!
//! The harness in `shuttle-tests/src/lib.rs` prints one `schedules` line per test and kind of
//! schedule; this file turns them into a table.

use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{Ended, Tree, root, run_within};
use crate::support::programs::{self, Kind};
use crate::support::table::Table;
use crate::support::tally::Tally;
use crate::support::tally::libtest_tally;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Run N schedules of each kind instead of each test's own number.
    #[arg(long, value_name = "N")]
    schedules: Option<usize>,

    /// Other random schedules than those of seed 0.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Run this one schedule: the text that a failing test has printed. Select that test by its
    /// full name.
    #[arg(long, value_name = "SCHEDULE", requires = "filter")]
    replay: Option<String>,

    /// Only the tests whose name contains this.
    filter: Option<String>,
}

/// How long all tests of one file may take.
const LIMIT: Duration = Duration::from_secs(3600);

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let tally = explore(options)?;
    println!("{tally}");
    Ok(tally.exit_code())
}

/// Builds the tests, runs those that the filter selects, and prints the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let mut build = Tree::here("shuttle").cargo_with_cfg("shuttle");
    build.args([
        "test",
        "--no-run",
        "--package",
        "shuttle-tests",
        "--profile",
        "loom",
    ]);
    let mut table = Table::new(["test", "schedules", ">number", ">seconds", "claim"]);
    let mut failed = Vec::new();
    let mut tally = Tally::default();
    for (file, program) in programs::build(&mut build, Kind::Test)? {
        let mut command = Command::new(program);
        command
            .args(["--nocapture", "--test-threads=1"])
            .args(&options.filter)
            .current_dir(root().join("tests/shuttle"));
        for (variable, value) in [
            (
                "SCHEDULES",
                options.schedules.map(|number| number.to_string()),
            ),
            ("SEED", options.seed.map(|seed| seed.to_string())),
            ("REPLAY", options.replay.clone()),
        ] {
            let variable = format!("FILCH_SHUTTLE_{variable}");
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        let ended = run_within(&mut command, LIMIT)?;
        table.group(&format!("shuttle-tests, --test {file}"));
        ended
            .output
            .lines()
            .filter_map(row)
            .for_each(|row| table.row(row));
        tally += libtest_tally(&ended.output);
        if !ended.status.is_some_and(|status| status.success()) {
            failed.push((file, ended));
        }
    }
    println!("{table}");
    for (file, Ended { output, .. }) in &failed {
        println!("---- {file}\n{output}");
    }
    // One that aborted, or was killed, has said nothing.
    if !failed.is_empty() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// A `schedules` line of the harness, `schedules TEST KIND NUMBER SECONDS CLAIM` with tabs between
/// them; libtest may have written something in front.
fn row(line: &str) -> Option<[String; 5]> {
    let (_, fields) = line.split_once("schedules\t")?;
    let fields: Vec<_> = fields.splitn(5, '\t').map(str::to_owned).collect();
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn a_line_of_the_harness_is_read_behind_libtests_prefix() {
        let line = "test a_b ... schedules\ta_b\tpct\t3000\t0.11\teach\tonce";
        let expected = ["a_b", "pct", "3000", "0.11", "each\tonce"].map(str::to_owned);
        assert_eq!(row(line), Some(expected));
        assert_eq!(row("running 1 test"), None);
        assert_eq!(row("schedules\ta_b\tpct"), None);
    }
}
