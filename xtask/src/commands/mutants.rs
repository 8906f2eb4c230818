//! `cargo xtask mutants`: would a test or a model notice if a condition, an effect or an order were
//! wrong?
//!
//! All mutants are compiled into a copy of the tree at once, each dormant; an environment variable
//! chooses one, so a mutant costs a run of tests and no build. The tests and models that reach it
//! run, the shortest first, until one of them shows it. Verdicts are kept per function, with its
//! fingerprint; only functions whose code has changed are judged again.

mod campaign;
mod edit;
mod function;
mod ledger;
mod operator;
mod progress;
mod refusals;
mod schema;
mod subject;
mod switch;
mod symptom;
mod syntax;
mod verdicts;
mod witnesses;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::support::code::is_for_tests;
use crate::support::error::Result;
use crate::support::process::{files_below, root};
use crate::support::tally::Tally;

use function::Function;
use ledger::Row;
use progress::Progress;
use subject::Subject;
use verdicts::Verdicts;
use witnesses::Witnesses;

pub(crate) use ledger::place;

#[derive(Args)]
pub(crate) struct Options {
    /// Judge the functions again that have verdicts. If this is cut off, go on without `--all`.
    #[arg(long)]
    all: bool,

    /// Only functions whose `path name` contains this: `injector/src`, or `Claim::drop`.
    filter: Option<String>,
}

/// The crates whose mutants are judged: sources, and packages with tests besides their models.
const SUBJECTS: &[(&str, &str)] = &[
    ("deque", "crates/deque/src"),
    ("injector", "crates/injector/src"),
    ("slab", "crates/slab/src"),
    ("process-state", "crates/process-state/src"),
    ("parker", "crates/parker/src"),
    ("promise", "crates/promise/src"),
    ("data-cell", "crates/data-cell/src"),
    ("event-queue", "crates/event-queue/src"),
    ("timers", "crates/timers/src/queue.rs"),
    ("build-scheduler", "crates/build-scheduler/src/combiner.rs"),
    ("scheduler", "crates/scheduler/src/table"),
    ("processors", "crates/processors/src/protocol"),
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let mut is_anything_open = false;
    for (name, sources) in SUBJECTS {
        let functions = functions(sources)?;
        let there = Witnesses::of(name)?;
        let mut verdicts = Verdicts::read(name, &functions)?;
        let mut progress = Progress::read(name, &functions);
        let is_meant = |function: &Function| {
            let full = format!("{} {}", function.file.display(), function.name);
            full.contains(filter)
        };
        let is_underway = progress.is_underway;
        let mut chosen = Vec::new();
        let mut first = 0;
        let mut is_complete = true;
        for (index, function) in functions.into_iter().enumerate() {
            let subject = Subject::new(function, first);
            if subject.mutants.is_empty() {
                verdicts.set(index, Row::default());
                continue;
            }
            if !is_meant(&subject.function) {
                continue;
            }
            if options.all {
                verdicts.forget(index);
                progress.forget(&subject.function);
            }
            let row = verdicts.rows()[index].1.as_ref();
            // What is known of single mutants is built again with the others, so that the copy, and
            // with it the programs, are the same from run to run.
            let is_known = match progress.get(&subject.function) {
                Some(found) => {
                    if !is_underway {
                        found.forget_open(&subject, row, &there);
                    }
                    Some(found.is_complete(&subject))
                }
                None => {
                    let is_old =
                        |row: &Row| row.is_open() || !row.by.iter().all(|by| there.has(by));
                    row.is_none_or(is_old).then_some(false)
                }
            };
            if let Some(is_judged) = is_known {
                is_complete &= is_judged;
                first += subject.mutants.len() as u32;
                chosen.push((index, subject));
            }
        }
        if !is_complete {
            println!("\n== {name}: {first} mutants of {} functions", chosen.len());
            verdicts.judge(chosen, progress)?;
        }
        verdicts.write()?;
        is_anything_open |= verdicts.report();
    }
    Ok(Tally::of(!is_anything_open).exit_code())
}

/// The functions below `sources`, with their names in a ledger.
fn functions(sources: &str) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    let files = if sources.ends_with(".rs") {
        vec![PathBuf::from(sources)]
    } else {
        files_below(root(), &[sources], "rs")?
    };
    for file in files {
        if is_for_tests(&file) {
            continue;
        }
        let text = fs::read_to_string(root().join(&file))?;
        functions.extend(function::of(&file, &text)?);
    }
    Ok(functions)
}

/// Lists what is wrong with the stored verdicts, by crate.
pub(crate) fn complaints() -> Result<Vec<(&'static str, String)>> {
    let mut complaints = Vec::new();
    for (name, sources) in SUBJECTS {
        let functions = functions(sources)?;
        let there = Witnesses::of(name)?;
        let verdicts = Verdicts::read(name, &functions)?;
        let mut stale = Vec::new();
        for (function, (at, row)) in functions.iter().zip(verdicts.rows()) {
            match row {
                None if operator::mutants(function, 0, &BTreeSet::new())
                    .0
                    .is_empty() => {}
                None => stale.push(at.clone()),
                Some(row) => {
                    for survivor in row.survived.iter().filter(|known| known.because.is_empty()) {
                        let mutant = &survivor.mutant;
                        complaints.push((
                            *name,
                            format!("{at}: nothing notices `{mutant}`, and no reason is given"),
                        ));
                    }
                    for by in row.by.iter().filter(|by| !there.has(by)) {
                        stale.push(format!("{at}, whose mutants `{by}` showed, which is gone"));
                    }
                }
            }
        }
        if !stale.is_empty() {
            complaints.push((
                *name,
                format!(
                    "no verdicts on the mutants of this code; `cargo xtask mutants {sources}` \
                     judges them:\n    {}",
                    stale.join("\n    ")
                ),
            ));
        }
    }
    Ok(complaints)
}
