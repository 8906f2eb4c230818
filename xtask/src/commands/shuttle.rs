//! `cargo xtask shuttle`: whole pools and schedulers under randomised schedules, and how many each
//! test ran.
//!
//! The harness in `tests/shuttle/src/lib.rs` prints one `schedules` line per test and kind of
//! schedule; this file turns them into a table.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Args;

use crate::support::error::Result;
use crate::support::parallel;
use crate::support::process::{Ended, Tree, root, run_within};
use crate::support::programs;
use crate::support::table::Table;
use crate::support::tally::{Tally, libtest, libtest_tally};

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

    /// Only the tests whose `file::test` contains this.
    filter: Option<String>,
}

/// How long one test may take.
const LIMIT: Duration = Duration::from_secs(3600);

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let tally = explore(options)?;
    println!("{tally}");
    Ok(tally.exit_code())
}

/// One test of one file.
struct Test {
    file: String,
    name: String,
    program: PathBuf,
}

/// Builds the tests, runs those that the filter selects, each in a process of its own, and prints
/// the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let tests = tests(options.filter.as_deref().unwrap_or_default())?;
    let ended = AtomicUsize::new(0);
    let outcomes = parallel::map(&tests, |test| {
        let outcome = run_one(test, options)?;
        let number = ended.fetch_add(1, Ordering::Relaxed) + 1;
        let verdict = if passed(&outcome) { "" } else { "FAILED " };
        let (Test { file, name, .. }, seconds) = (test, outcome.elapsed.as_secs_f64());
        println!(
            "[{number}/{}] {verdict}{file}::{name}  {seconds:.1} s",
            tests.len()
        );
        Ok(outcome)
    })?;
    let mut table = Table::new(["test", "schedules", ">number", ">seconds", "claim"]);
    let mut tally = Tally::default();
    let mut file = "";
    for (test, outcome) in tests.iter().zip(&outcomes) {
        if test.file != file {
            file = &test.file;
            table.group(&format!("shuttle-tests, --test {file}"));
        }
        let rows = outcome.output.lines().filter_map(row);
        rows.for_each(|row| table.row(row));
        tally += Tally::of(passed(outcome));
    }
    println!("{table}");
    for (test, outcome) in tests.iter().zip(&outcomes) {
        if !passed(outcome) {
            println!("---- {}::{}\n{}", test.file, test.name, outcome.output);
        }
    }
    Ok(tally)
}

/// Runs the tests of `filch-testing`, in which users' tests run.
pub(crate) fn tests_of_testing() -> Result<Tally> {
    let mut test = Tree::here("shuttle").cargo_with_cfg("shuttle");
    test.args(["test", "--package", "filch-testing", "--profile", "loom"]);
    for variable in ["SCHEDULES", "SEED"] {
        test.env_remove(format!("FILCH_TESTING_{variable}"));
    }
    libtest(&mut test)
}

fn tests(filter: &str) -> Result<Vec<Test>> {
    let mut build = Tree::here("shuttle").cargo_with_cfg("shuttle");
    build.args(["test", "--no-run", "--package", "shuttle-tests"]);
    build.args(["--profile", "loom"]);
    let mut tests = Vec::new();
    for (file, program) in programs::build(&mut build, &["test"])? {
        for name in programs::tests(&program)? {
            let (file, program) = (file.clone(), program.clone());
            if format!("{file}::{name}").contains(filter) {
                tests.push(Test {
                    file,
                    name,
                    program,
                });
            }
        }
    }
    if tests.is_empty() {
        return Err(format!("no test's name contains `{filter}`").into());
    }
    Ok(tests)
}

fn run_one(test: &Test, options: &Options) -> Result<Ended> {
    let mut command = Command::new(&test.program);
    command
        .args(["--exact", &test.name, "--nocapture", "--test-threads=1"])
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
    run_within(&mut command, LIMIT)
}

/// One that is ignored has not passed.
fn passed(outcome: &Ended) -> bool {
    outcome.status.is_some_and(|status| status.success())
        && libtest_tally(&outcome.output) == Tally::of(true)
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
