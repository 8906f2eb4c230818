//! `cargo xtask shuttle`: whole pools and schedulers under randomised schedules, and how many each
//! test ran.
//!
//! The harness in `tests/shuttle/src/lib.rs` prints one `schedules` line per test and kind of
//! schedule; this file turns them into a table.

use std::time::Duration;

use clap::Args;

use crate::support::Result;
use crate::support::explore::Harness;
use crate::support::process::{cargo_in, root};
use crate::support::programs;
use crate::support::tally::Tally;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Run N schedules of each kind; `own`: each test's own number; `quicker`: a quarter of it,
    /// as `cargo xtask test` and `ci` do.
    #[arg(long, value_name = "N")]
    schedules: Option<String>,

    /// Other random schedules than those of seed 0.
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// Run this one schedule: the text that a failing test has printed. Select that test by its
    /// full name.
    #[arg(long, value_name = "SCHEDULE", requires = "filter")]
    replay: Option<String>,

    /// Only the tests whose name, `module::test`, contains this.
    filter: Option<String>,
}

/// The time that one test may take.
const LIMIT: Duration = Duration::from_secs(3600);

/// Runs all tests, a quarter of their schedules.
pub(crate) fn all() -> Result<Tally> {
    let schedules = Some("quicker".to_owned());
    explore(&Options {
        schedules,
        ..Options::default()
    })
}

/// Builds the tests, runs those that the filter selects, and prints the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let mut build = cargo_in("shuttle");
    build.args(["test", "--no-run", "--package", "shuttle-tests"]);
    build.args(["--profile", "loom"]);
    let filter = options.filter.as_deref();
    let tests = programs::select(&mut build, "tests/shuttle/tests", filter)?;
    let asked = [
        ("FILCH_SHUTTLE_SCHEDULES", &options.schedules),
        ("FILCH_SHUTTLE_SEED", &options.seed),
        ("FILCH_SHUTTLE_REPLAY", &options.replay),
    ];
    let asked = asked.into_iter();
    let asked = asked.filter_map(|(name, value)| Some((name, value.clone()?)));
    let harness = Harness {
        word: "schedules",
        fields: &["test", "schedules", ">number", ">seconds", "claim"],
        folder: root().join("tests/shuttle"),
        environment: asked.collect(),
        about_itself: "",
        limit: LIMIT,
        shows_all: false,
    };
    harness.explore(&tests)
}
