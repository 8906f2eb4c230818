//! `cargo xtask orderings`: is each ordering needed, and would a model notice if it were weaker?
//!
//! An ordering is weakened by one step, or a fence is taken out, and the models run that reach it
//! until one of them fails. A mutant that no model kills is a survivor; it is explained if the
//! `ORDERING` note above it says what `loom cannot` show.

mod ledger;
mod moves;
mod mutant;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::campaign::{self, Judges};
use super::function::{self, Function};
use super::subject::Subject;
use crate::commands::loom;
use crate::support::Result;
use crate::support::process::{root, sources};
use crate::support::programs;
use crate::support::tally::Tally;

use ledger::{Ledger, Verdict};
use mutant::Mutant;

pub(crate) use ledger::PAGE;

#[derive(Args)]
pub(crate) struct Options {
    /// Only list the mutants.
    #[arg(long)]
    list: bool,

    /// Write the verdicts into the table in docs/correctness.md; those on files that are not
    /// selected stay. With `--list`, nothing runs: the rows follow files and functions that were
    /// moved or renamed, and new ones have no verdict yet.
    #[arg(long)]
    write: bool,

    /// Only mutants whose line in the list contains this: a path, or a function.
    filter: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let (functions, all) = mutants()?;
    let filter = options.filter.as_deref().unwrap_or_default();
    let is_selected = |at: &usize| all[*at].to_string().contains(filter);
    let selected: Vec<_> = (0..all.len()).filter(is_selected).collect();
    if selected.is_empty() {
        return Err("no ordering is selected".into());
    }
    let mut verdicts = Ledger::read()?.verdicts(&all);
    if options.list {
        selected.iter().for_each(|&at| println!("{}", all[at]));
        if options.write {
            ledger::write(&all, &verdicts)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    for suite in functions.chunk_by(|(one, _), (other, _)| suite_of(one) == suite_of(other)) {
        let (mut subjects, mut begins, mut first) = (Vec::new(), Vec::new(), 0);
        for (function, begin) in suite {
            let mut subject = Subject::new(function, first, mutant::operators);
            let places = 0..subject.mutants.len();
            let is_left_out = |place: &usize| !is_selected(&(begin + place));
            subject.left_out = places.filter(is_left_out).collect();
            if subject.left_out.len() < subject.mutants.len() {
                first += subject.mutants.len() as u32;
                begins.push(begin);
                subjects.push(subject);
            }
        }
        let Some((package, models)) = suite_of(&suite[0].0).filter(|_| first > 0) else {
            continue;
        };
        println!("\n== {package}: {}", models.join(", "));
        let judges = Judges {
            package: format!("filch-{package}"),
            has_tests: false,
            models: models.iter().copied().collect(),
        };
        campaign::judge(&judges, &mut subjects, |_, (index, place), kill| {
            let at = begins[index] + place;
            verdicts[at] = match (kill, &all[at].reason) {
                (Some(kill), _) => Verdict::Killed(kill.by),
                (None, Some(reason)) => Verdict::Explained(reason.clone()),
                (None, None) => Verdict::Survived,
            };
            Ok(())
        })?;
        if options.write {
            ledger::write(&all, &verdicts)?;
        }
    }
    let mut counts = [0; 4];
    for at in selected {
        counts[verdicts[at].kind()] += 1;
    }
    let [killed, explained, survived, not_run] = counts;
    println!(
        "{killed} killed, {explained} survived with an explanation, {survived} survived, {not_run} \
         not run"
    );
    Ok(Tally::of(survived + not_run == 0).exit_code())
}

/// Lists what is wrong with the table of verdicts.
pub(crate) fn complaints() -> Result<Vec<String>> {
    Ok(Ledger::read()?.complaints(&mutants()?.1, &programs::names(loom::TESTS)?))
}

/// The modules of models that are about each source. A source that is not here has no model, so
/// that every mutant would survive: the threads of the processors and the scheduler, whose words
/// are models' subjects and whose composition is not yet.
const MODELS: &[(&str, &[&str])] = &[
    ("crates/build-scheduler/src/combiner.rs", &["combiner"]),
    ("crates/data-cell/src", &["data_cell"]),
    ("crates/deque/src", &["deque", "deque_memory"]),
    ("crates/engine/src/completion.rs", &["engine"]),
    ("crates/engine/src/owners.rs", &["engine"]),
    ("crates/engine/src/route.rs", &["engine"]),
    ("crates/event-queue/src", &["event_queue"]),
    ("crates/fork-join/src", &["fork_join"]),
    ("crates/injector/src", &["injector"]),
    ("crates/parker/src", &["parker"]),
    ("crates/process-state/src", &["process_state"]),
    ("crates/processors/src", &["handoff", "sleep_wake"]),
    ("crates/promise/src", &["promise", "take_once"]),
    ("crates/scheduler/src/table/life.rs", &["occupants"]),
    (
        "crates/scheduler/src/table/slot.rs",
        &["waker_clones", "urgency"],
    ),
    ("crates/scheduler/src/table/table.rs", &["occupants"]),
    ("crates/slab/src/occupancy.rs", &["occupancy", "walk"]),
    (
        "crates/slab/src",
        &["batch", "slab", "retired_slab", "walk"],
    ),
];

pub(crate) fn models_about(file: &Path) -> Option<&'static [&'static str]> {
    let mut models = MODELS.iter();
    let (_, models) = models.find(|(sources, _)| file.starts_with(sources))?;
    Some(models)
}

/// The crate of a function, and the models about its file.
fn suite_of(function: &Function) -> Option<(&str, &'static [&'static str])> {
    let package = function.file.iter().nth(1)?.to_str()?;
    Some((package, models_about(&function.file)?))
}

/// Functions, with the index of the first mutant of each.
type Functions = Vec<(Function, usize)>;

/// All mutants of shipped code that has models.
fn mutants() -> Result<(Functions, Vec<Mutant>)> {
    let (mut functions, mut mutants) = (Vec::new(), Vec::new());
    for file in sources("crates")? {
        if models_about(&file).is_some() {
            let text = fs::read_to_string(root().join(&file))?;
            for function in function::of(&file, &text)? {
                let first = mutants.len();
                mutants.extend(mutant::of(&function, &text));
                functions.push((function, first));
            }
        }
    }
    Ok((functions, mutants))
}

#[cfg(test)]
mod tests {
    use super::{MODELS, loom, programs, sources};
    use crate::commands::mutants::verdicts::MORE_MODELS;

    #[test]
    fn each_source_with_models_is_there() {
        let files = sources("crates").unwrap();
        for (source, _) in MODELS {
            assert!(
                files.iter().any(|file| file.starts_with(source)),
                "{source}"
            );
        }
    }

    #[test]
    fn there_are_models_in_each_module() {
        let names = programs::names(loom::TESTS).unwrap();
        let models = MODELS.iter().chain(MORE_MODELS);
        for module in models.flat_map(|(_, modules)| *modules) {
            let has = |name: &String| name.starts_with(&format!("{module}::"));
            assert!(names.iter().any(has), "{module}");
        }
    }
}
