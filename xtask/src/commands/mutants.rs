//! `cargo xtask mutants`: would a test or a model notice if a condition, an effect or an order were
//! wrong? And `cargo xtask orderings`: if an ordering were weaker?
//!
//! All mutants are compiled into a copy of the tree at once, each dormant; an environment variable
//! chooses one, so a mutant costs a run of tests and no build. The tests and models that reach it
//! run, the shortest first, until one of them shows it. Verdicts are kept per function, with its
//! fingerprint; only functions whose code has changed are judged again.

mod campaign;
mod edit;
pub(crate) mod function;
mod ledger;
mod operator;
pub(crate) mod orderings;
mod refusals;
mod schema;
mod subject;
mod switch;
mod symptom;
mod syntax;
mod verdicts;

use std::process::ExitCode;

use clap::Args;

use crate::support::Result;
use crate::support::tally::Tally;

use ledger::Row;
use subject::Subject;
use verdicts::Verdicts;

pub(crate) use ledger::place;

#[derive(Args)]
pub(crate) struct Options {
    /// Judge the functions again that have verdicts. If this is cut off, go on without `--all`.
    #[arg(long)]
    all: bool,

    /// Only functions whose `path name` contains this: `injector/src`, or `Claim::drop`.
    filter: Option<String>,
}

/// The crates whose mutants are judged, and the files or folders of their sources; "" is all.
const SUBJECTS: &[(&str, &[&str])] = &[
    ("deque", &[""]),
    ("injector", &[""]),
    ("slab", &[""]),
    ("process-state", &[""]),
    ("parker", &[""]),
    ("promise", &[""]),
    ("data-cell", &[""]),
    ("event-queue", &[""]),
    ("timers", &["queue.rs"]),
    ("build-scheduler", &["combiner.rs"]),
    ("scheduler", &["link", "process/inline_box.rs", "table"]),
    ("processors", &["protocol"]),
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let mut is_anything_open = false;
    for (name, places) in SUBJECTS {
        let functions = verdicts::functions(name, places)?;
        let mut verdicts = Verdicts::read(name, &functions)?;
        let (mut indices, mut subjects, mut first) = (Vec::new(), Vec::new(), 0);
        for (index, _, row) in verdicts.rows() {
            let function = &functions[index];
            let full = format!("{} {}", function.file.display(), function.name);
            let is_open = |row: &Row| row.open().next().is_some();
            let is_old = |row: &Row| is_open(row) || verdicts.gone(row).next().is_some();
            if full.contains(filter) && (options.all || row.is_none_or(is_old)) {
                let subject = Subject::new(function, first, operator::mutants);
                first += subject.mutants.len() as u32;
                indices.push(index);
                subjects.push(subject);
            }
        }
        if first > 0 {
            let count = subjects.len();
            println!("\n== {name}: {first} mutants of {count} functions");
            verdicts.judge(&indices, subjects)?;
        }
        verdicts.write()?;
        is_anything_open |= verdicts.report();
    }
    Ok(Tally::of(!is_anything_open).exit_code())
}

/// Lists what is wrong with the stored verdicts, by crate.
pub(crate) fn complaints() -> Result<Vec<(&'static str, String)>> {
    let mut complaints = Vec::new();
    for (name, places) in SUBJECTS {
        let verdicts = Verdicts::read(name, &verdicts::functions(name, places)?)?;
        let mut stale = Vec::new();
        for (_, at, row) in verdicts.rows() {
            let Some(row) = row else {
                stale.push(at.clone());
                continue;
            };
            let open = row.open().map(|survivor| {
                let mutant = &survivor.mutant;
                format!("{at}: nothing notices `{mutant}`, and no reason is given")
            });
            complaints.extend(open.map(|complaint| (*name, complaint)));
            for by in verdicts.gone(row) {
                stale.push(format!("{at}, whose mutants `{by}` showed, which is gone"));
            }
        }
        if !stale.is_empty() {
            let list = stale.join("\n    ");
            let complaint = format!(
                "no verdicts on the mutants of this code; `cargo xtask mutants crates/{name}/src` \
                 judges them:\n    {list}"
            );
            complaints.push((*name, complaint));
        }
    }
    Ok(complaints)
}
