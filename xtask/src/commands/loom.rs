//! `cargo xtask loom`: the models, and what each of them explored.
//!
//! The harness in `loom-tests/src/lib.rs` prints one `model` line per model.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use crate::support::Result;
use crate::support::explore::Harness;
use crate::support::process::{Tree, root, sources};
use crate::support::programs::{self, Test};
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

    /// Only the models whose `file::test` contains this.
    filter: Option<String>,
}

/// A model that runs for longer has failed.
const LIMIT: Duration = Duration::from_secs(300);

impl Options {
    /// All models.
    pub(crate) fn all(bound: &str) -> Self {
        Self {
            bound: bound.to_owned(),
            ..Self::default()
        }
    }

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

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    explore(options)?.report()
}

/// Builds the models, runs those that the filter selects, and prints the table.
pub(crate) fn explore(options: &Options) -> Result<Tally> {
    let models = models(&Tree::named("loom"))?;
    let models = programs::named(models, options.filter.as_deref())?;
    let started = Instant::now();
    let (lines, tally) = options.harness().explore(&models)?;
    let executions = lines.iter().filter_map(|line| line[3].parse::<u64>().ok());
    let (models, executions) = (lines.len(), executions.sum::<u64>());
    let seconds = started.elapsed().as_secs_f64();
    println!("{models} models, {executions} executions, {seconds:.1} s");
    Ok(tally)
}

/// Builds the models in a tree, and lists them.
pub(crate) fn models(tree: &Tree) -> Result<Vec<Test>> {
    let mut build = tree.cargo();
    build.args(["test", "--no-run", "--package", "loom-tests"]);
    build.args(["--profile", "loom"]);
    programs::tests(&mut build, &["test"])
}

const TESTS: &str = "loom-tests/tests";

/// Reads the names of all models from the sources, which need not be built for it.
pub(crate) fn names() -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in sources(TESTS)? {
        let text = fs::read_to_string(root().join(&file))?;
        let module = place(file.strip_prefix(TESTS)?);
        names.extend(tests_of(&text).map(|test| format!("{module}{test}")));
    }
    Ok(names)
}

/// The module that a file is: `deque::claims::` for `deque/claims.rs`.
fn place(file: &Path) -> String {
    let file = file.with_extension("");
    let parts = file.iter().filter_map(OsStr::to_str);
    let parts = parts.filter(|part| *part != "main" && *part != "mod");
    parts.map(|part| format!("{part}::")).collect()
}

/// The names of the functions under `#[test]`.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines().map(str::trim_start);
    std::iter::from_fn(move || {
        lines.find(|line| *line == "#[test]")?;
        let function = lines.find_map(|line| line.strip_prefix("fn "))?;
        function.split('(').next()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{place, tests_of};

    #[test]
    fn a_file_is_a_module() {
        let placed = |file| place(Path::new(file));
        assert_eq!(placed("walk.rs"), "walk::");
        assert_eq!(placed("deque/mod.rs"), "deque::");
        assert_eq!(placed("deque/claims.rs"), "deque::claims::");
        assert_eq!(placed("main.rs"), "");
    }

    #[test]
    fn attributes_may_stand_between_the_mark_and_the_function() {
        let text = "fn no() {}\n#[test]\nfn one() {}\n\
                    #[test]\n#[should_panic(expected = \"x\")]\nfn two() {\n";
        assert!(tests_of(text).eq(["one", "two"]));
    }
}
