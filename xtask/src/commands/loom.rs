//! `cargo xtask loom`: the models, and what each of them explored.
//!
//! The harness in `crates/models` prints one `model` line per model, and keeps the table of
//! each known bug, in a file for each test.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use crate::support::Result;
use crate::support::explore::Harness;
use crate::support::process::{Tree, fresh_folder, root, target_directory, write};
use crate::support::programs;
use crate::support::tally::Tally;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Explore up to so many preemptions; `own`: each model's own bound; `most`: the same, but few
    /// in the longest models, as `cargo xtask ci` does; `quick`: few, in long ones; `quicker`:
    /// fewer, as `cargo xtask test` does; `full`: every interleaving, which many models will not
    /// end within the limit.
    #[arg(long, value_name = "N", default_value = "own")]
    bound: String,

    /// Show all that the models print, with the execution that fails, or a known bug, as JSON.
    #[arg(long)]
    json: bool,

    /// Make the tables of the known bugs anew, in docs/counter-examples; runs their models alone.
    #[arg(long, conflicts_with = "filter")]
    tables: bool,

    /// Only the models whose name, `module::test`, contains this.
    filter: Option<String>,
}

/// A model that runs for longer has failed.
const LIMIT: Duration = Duration::from_secs(900);

impl Options {
    /// The harness, with the variables that it reads.
    fn harness(&self) -> Harness {
        let mut told = vec![("FILCH_LOOM_BOUND", self.bound.clone())];
        told.push(("FILCH_LOOM_TABLES", tables().display().to_string()));
        if self.json {
            told.push(("FILCH_LOOM_JSON", String::new()));
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
            shows_all: self.json,
        }
    }
}

/// The pages of tests whose module is not `known_bugs_` and the name of a page, by the first
/// beginning that a test's name has.
const PAGES: &[(&str, &str)] = &[
    ("known_bugs_bound.", "processors"),
    ("known_bugs_combiner.", "build-scheduler"),
    ("known_bugs_end.", "processors"),
    ("known_bugs_guests.", "processors"),
    ("known_bugs_handoff.", "processors"),
    ("known_bugs_occupancy.", "slab"),
    ("known_bugs_scope.", "fork-join"),
    ("tour.queue_", "tour-event-queue"),
    ("tour.sleep_", "tour-sleep-and-wake"),
    ("tour.state_", "tour-state-word"),
    ("tour.", "tour-deque"),
];

/// The folder for the tables of each test.
fn tables() -> PathBuf {
    target_directory("counter-examples")
}

/// Makes a page for each crate of the tables of its known bugs, and returns whether these are the
/// pages in the book; writes them first, if `is_written`.
fn pages(is_written: bool) -> Result<Tally> {
    let mut files = Vec::new();
    for file in fs::read_dir(tables())? {
        files.push(file?.path());
    }
    files.sort();
    let mut pages = BTreeMap::<_, String>::new();
    for file in files {
        let name = file.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let listed = PAGES.iter().find(|(begin, _)| name.starts_with(begin));
        let of = match (listed, name.strip_prefix("known_bugs_")) {
            (Some((_, page)), _) => (*page).to_owned(),
            (None, Some(bug)) => bug.split('.').next().unwrap_or_default().replace('_', "-"),
            (None, None) => continue,
        };
        let page = pages.entry(of).or_default();
        *page += &format!("\n{}", fs::read_to_string(file)?.trim_end());
        page.push('\n');
    }
    let mut tally = Tally::default();
    for (of, tables) in pages {
        let page = format!("# Counter-examples: {of}\n\n{HEAD}{tables}");
        let path = root().join(format!("docs/counter-examples/{of}.md"));
        if is_written {
            write(page.as_bytes(), &path)?;
        }
        let is_same = fs::read_to_string(&path).is_ok_and(|old| old == page);
        if !is_same {
            println!(
                "error: `cargo xtask loom --tables` changes {}",
                path.display()
            );
        }
        tally += Tally::of(is_same);
    }
    Ok(tally)
}

/// The text that all pages begin with.
const HEAD: &str = "\
<!-- Made by `cargo xtask loom --tables` -->

Executions in which a bug, put into a small copy of the algorithm on purpose, does harm. Row 0 has
the values at first; [filch-models](../crates/models/README.md) says how to read the rest.
";

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
    fresh_folder(&tables())?;
    let mut build = build(&Tree::named("loom"));
    let mut models = programs::select(&mut build, TESTS, options.filter.as_deref())?;
    if options.tables {
        let is_one = |name: &str| name.starts_with("known_bugs_") || name.starts_with("tour::");
        models.retain(|model| is_one(&model.name));
    }
    let mut tally = options.harness().explore(&models)?;
    if options.filter.is_none() {
        tally += pages(options.tables)?;
    }
    Ok(tally)
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
