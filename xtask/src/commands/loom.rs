//! `cargo xtask loom`: the models, and what each of them explored.
//!
//! Each model runs in a process of its own: a failing one may abort, and a hanging one is killed.
//! The harness in `loom-tests/src/lib.rs` prints one `model` line per model; this file turns them
//! into a table.

mod build;
mod report;
mod sources;

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use crate::support::error::Result;
use crate::support::parallel;
use crate::support::process::{Tree, root, run_within};
use crate::support::tally::Tally;

pub(crate) use build::{Model, models};
use report::Outcome;

#[derive(Args)]
pub(crate) struct Options {
    /// Explore up to N preemptions instead of each model's own bound.
    #[arg(long, value_name = "N", conflicts_with = "full")]
    bound: Option<usize>,

    /// Explore every interleaving; many models will not end within the limit.
    #[arg(long)]
    full: bool,

    /// Explore long models up to few preemptions, as `cargo xtask test` does.
    #[arg(long, conflicts_with_all = ["bound", "full"])]
    quick: bool,

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

impl Default for Options {
    fn default() -> Self {
        Self {
            bound: None,
            full: false,
            quick: false,
            execution: None,
            limit: DEFAULT_LIMIT,
            filter: None,
        }
    }
}

impl Options {
    /// All models, at their quick bounds.
    pub(crate) fn quick() -> Self {
        Self {
            quick: true,
            ..Self::default()
        }
    }

    /// What the harness is told.
    fn environment(&self) -> Environment {
        let bound = match self.bound {
            Some(bound) => bound.to_string(),
            None if self.full => "full".to_owned(),
            None if self.quick => "quick".to_owned(),
            None => "own".to_owned(),
        };
        let mut environment = vec![("FILCH_LOOM_BOUND", bound)];
        if let Some(number) = self.execution {
            environment.push(("FILCH_LOOM_EXECUTION", number.to_string()));
            if !is_traced() {
                environment.push((LOG, "trace".to_owned()));
            }
        }
        environment
    }
}

/// Variables and their values.
type Environment = Vec<(&'static str, String)>;

/// The variable by which loom is asked for a log.
const LOG: &str = "LOOM_LOG";

fn is_traced() -> bool {
    std::env::var_os(LOG).is_some()
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
    if filter.is_empty() && models.iter().all(Model::is_about_the_harness) {
        return Err("there are no models".into());
    }
    let started = Instant::now();
    let outcomes = run_all(&models, options)?;
    let show_all = is_traced() || options.execution.is_some();
    report::print(&outcomes, show_all, started.elapsed());
    let mut tally = Tally::default();
    for outcome in &outcomes {
        tally += Tally::of(outcome.failure.is_none());
    }
    Ok(tally)
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
    models.sort_by_cached_key(|model| rank(&model.full_name()));
    let any_count = vec![("FILCH_LOOM_ANY_COUNT", "1".to_owned())];
    for model in &models {
        let outcome = run_one(model, &any_count, Duration::from_secs(limit))?;
        if outcome.failure.is_some() {
            return Ok(Some(model.full_name()));
        }
    }
    Ok(None)
}

/// Runs the models, and says which one has ended.
fn run_all<'m>(models: &'m [Model], options: &Options) -> Result<Vec<Outcome<'m>>> {
    let environment = options.environment();
    let limit = Duration::from_secs(options.limit);
    let ended = AtomicUsize::new(0);
    let models: Vec<_> = models.iter().collect();
    parallel::map(&models, |model| {
        let outcome = run_one(model, &environment, limit)?;
        let number = ended.fetch_add(1, Ordering::Relaxed) + 1;
        println!("[{number}/{}] {outcome}", models.len());
        Ok(outcome)
    })
}

fn run_one<'m>(
    model: &'m Model,
    environment: &Environment,
    limit: Duration,
) -> Result<Outcome<'m>> {
    let mut command = Command::new(&model.program);
    command
        .args(["--exact", &model.test, "--nocapture", "--test-threads=1"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(root().join("loom-tests"));
    // Either of these would end a search early and call it a success.
    command
        .env_remove("LOOM_MAX_PERMUTATIONS")
        .env_remove("LOOM_MAX_DURATION");
    Ok(Outcome::new(model, run_within(&mut command, limit)?, limit))
}
