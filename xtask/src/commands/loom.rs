//! `cargo xtask loom`: the models, and what each of them explored.
//!
//! The harness in `loom-tests/src/lib.rs` prints one `model` line per model.

use std::process::Command;
use std::time::Duration;

use clap::Args;

use crate::support::Result;
use crate::support::explore::Harness;
use crate::support::process::{Tree, root};
use crate::support::programs;
use crate::support::tally::Tally;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Explore up to so many preemptions; `own`: each model's own bound; `quick`: few, in long
    /// models; `quicker`: fewer, as `cargo xtask test` does; `full`: every interleaving, which many
    /// models will not end within the limit.
    #[arg(long, value_name = "N", default_value = "own")]
    bound: String,

    /// Show this execution, whether or not it fails. `LOOM_LOG` says what to show of it.
    #[arg(long, value_name = "N", requires = "filter")]
    execution: Option<u64>,

    /// Only the models whose name, `module::test`, contains this.
    filter: Option<String>,
}

/// A model that runs for longer has failed.
const LIMIT: Duration = Duration::from_secs(300);

impl Options {
    /// The harness, with the variables that it reads.
    fn harness(&self) -> Harness {
        let mut told = vec![("FILCH_LOOM_BOUND", self.bound.clone())];
        let is_traced = std::env::var_os(LOG).is_some();
        if let Some(number) = self.execution {
            told.push(("FILCH_LOOM_EXECUTION", number.to_string()));
            if !is_traced {
                told.push((LOG, "trace".to_owned()));
            }
        }
        Harness {
            word: "model",
            fields: &[
                "model",
                "verdict",
                ">bound",
                ">executions",
                ">seconds",
                "claim",
            ],
            folder: root().join("loom-tests"),
            environment: told,
            about_itself: "harness",
            limit: LIMIT,
            shows_all: is_traced || self.execution.is_some(),
        }
    }
}

/// The variable by which loom is asked for a log.
const LOG: &str = "LOOM_LOG";

/// Explores all models at these bounds.
pub(crate) fn all(bound: &str) -> Result<Tally> {
    let bound = bound.to_owned();
    explore(&Options {
        bound,
        ..Options::default()
    })
}

/// Builds the models, runs those that the filter selects, and prints the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let mut build = build(&Tree::named("loom"));
    let models = programs::select(&mut build, TESTS, options.filter.as_deref())?;
    options.harness().explore(&models)
}

/// The build of the models in a tree.
pub(crate) fn build(tree: &Tree) -> Command {
    let mut build = tree.cargo();
    build.args(["test", "--no-run", "--package", "loom-tests"]);
    build.args(["--profile", "loom"]);
    build
}

/// The folder of the models' sources.
pub(crate) const TESTS: &str = "loom-tests/tests";
