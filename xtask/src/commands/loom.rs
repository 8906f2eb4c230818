//! `cargo xtask loom`: the models, and what each of them explored.
//!
//! The harness in `loom-tests/src/lib.rs` prints one `model` line per model.

mod build;
mod sources;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use crate::support::error::Result;
use crate::support::explore::{Harness, tally};
use crate::support::process::{Tree, root};
use crate::support::tally::Tally;

pub(crate) use build::models;

#[derive(Args)]
pub(crate) struct Options {
    /// Explore up to so many preemptions; `own`: each model's own bound; `quick`: few, in long
    /// models, as `cargo xtask test` does; `full`: every interleaving, which many models will not
    /// end within the limit.
    #[arg(long, value_name = "N", default_value = "own")]
    bound: String,

    /// Show this execution, whether or not it fails. `LOOM_LOG` says what to show of it.
    #[arg(long, value_name = "N", requires = "filter")]
    execution: Option<u64>,

    /// Kill a model, and count it as failed, once it has run for this long.
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_LIMIT)]
    limit: u64,

    /// Only the models whose `file::test` contains this.
    filter: Option<String>,
}

const DEFAULT_LIMIT: u64 = 300;

impl Options {
    /// All models.
    pub(crate) fn all(bound: &str) -> Self {
        Self {
            bound: bound.to_owned(),
            execution: None,
            limit: DEFAULT_LIMIT,
            filter: None,
        }
    }

    /// The harness, with the variables that it reads.
    fn harness(&self) -> Harness<6> {
        let mut told = vec![("FILCH_LOOM_BOUND", self.bound.clone())];
        let is_traced = std::env::var_os(LOG).is_some();
        if let Some(number) = self.execution {
            told.push(("FILCH_LOOM_EXECUTION", number.to_string()));
            if !is_traced {
                told.push((LOG, "trace".to_owned()));
            }
        }
        let mut harness = harness(told, self.limit);
        harness.shows_all = is_traced || self.execution.is_some();
        harness
    }
}

/// The variable by which loom is asked for a log.
const LOG: &str = "LOOM_LOG";

/// A file of tests about the harness itself, which hold no model.
const ABOUT_THE_HARNESS: &str = "harness";

/// The harness of models that may run for so many seconds.
fn harness(environment: Vec<(&'static str, String)>, limit: u64) -> Harness<6> {
    Harness {
        word: "model",
        fields: [
            "model",
            "verdict",
            ">bound",
            ">executions",
            ">seconds",
            "claim",
        ],
        folder: root().join("loom-tests"),
        environment,
        must_explore_but: Some(ABOUT_THE_HARNESS),
        limit: Duration::from_secs(limit),
        shows_all: false,
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let tally = explore(options)?;
    println!("{tally}");
    Ok(tally.exit_code())
}

/// Builds the models, runs those that the filter selects, and prints the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let models = build::models_named(&Tree::here("loom"), filter)?;
    let is_model = |file: &str| file != ABOUT_THE_HARNESS;
    if filter.is_empty() && !models.iter().any(|model| is_model(&model.file)) {
        return Err("there are no models".into());
    }
    let started = Instant::now();
    let outcomes = options.harness().explore(&models)?;
    for (model, outcome) in models.iter().zip(&outcomes) {
        let number = failing_execution(&outcome.ended.output);
        if let (Some(_), Some(number)) = (&outcome.failure, number) {
            println!("to see it: cargo xtask loom --execution {number} {model}");
        }
    }
    let lines = outcomes.iter().flat_map(|outcome| &outcome.explored);
    let executions = lines
        .clone()
        .filter_map(|[_, _, _, number, ..]| number.parse::<u64>().ok());
    let (count, executions, elapsed) = (lines.count(), executions.sum::<u64>(), started.elapsed());
    println!(
        "{count} models, {executions} executions, {:.1} s",
        elapsed.as_secs_f64()
    );
    Ok(tally(&outcomes))
}

/// Finds what the harness has announced at the first panic: `execution 17 fails:`.
fn failing_execution(output: &str) -> Option<u64> {
    let mut numbers = output.lines().filter_map(|line| {
        let (_, number) = line.strip_suffix(" fails:")?.rsplit_once("execution ")?;
        number.parse().ok()
    });
    numbers.next()
}

/// The full names of all models.
pub(crate) fn names() -> Result<BTreeSet<String>> {
    let programs = sources::programs(root())?;
    let names = programs.into_iter().flat_map(|(program, tests)| {
        let full = move |test| format!("{program}::{test}");
        tests.into_iter().map(full)
    });
    Ok(names.collect())
}

/// Runs the models in these files of `tree` until one fails, and returns its name; those of low
/// `rank` go first. Fewer executions than a model's author saw are no failure here: a weaker
/// ordering may change their number and nothing else.
pub(crate) fn first_failure(
    tree: &Tree,
    files: &[&str],
    limit: u64,
    rank: impl Fn(&str) -> usize,
) -> Result<Option<String>> {
    let mut models = models(tree, files)?;
    models.sort_by_cached_key(|model| rank(&model.to_string()));
    let harness = harness(vec![("FILCH_LOOM_ANY_COUNT", "1".to_owned())], limit);
    for model in &models {
        if harness.run(model)?.failure.is_some() {
            return Ok(Some(model.to_string()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::failing_execution;

    #[test]
    fn the_execution_that_fails_is_read_behind_libtests_prefix() {
        let output = "running 1 test\ntest a ... execution 17 fails:\nthread 'a' panicked at b.rs";
        assert_eq!(failing_execution(output), Some(17));
        assert_eq!(failing_execution("the execution fails:"), None);
    }
}
