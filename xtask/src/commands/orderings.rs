//! `cargo xtask orderings`: is each ordering needed, and would a model notice if it were weaker?
//!
//! Works on copies of the tree in `target/orderings`. One mutant at a time in each: an ordering is
//! weakened by one step, or a fence is taken out, and the models run until one of them fails. A
//! mutant that no model kills is a survivor; it is explained if the `ORDERING` note above it says
//! what `loom cannot` show.

mod access;
mod ledger;
mod moves;
mod mutant;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use clap::Args;

use crate::commands::loom;
use crate::support::copies;
use crate::support::error::Result;
use crate::support::parallel;
use crate::support::process::{Tree, files_below, root};
use crate::support::tally::Tally;

use ledger::{Ledger, Verdict};
use mutant::Mutant;

pub(crate) use ledger::PAGE;

#[derive(Args)]
pub(crate) struct Options {
    /// Count a model as failed, and the mutant as killed, once it has run for this long.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,

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
    let all = mutants()?;
    let filter = options.filter.as_deref().unwrap_or_default();
    let is_selected = |at: &usize| all[*at].to_string().contains(filter);
    let selected: Vec<_> = (0..all.len()).filter(is_selected).collect();
    if selected.is_empty() {
        return Err("no ordering is selected".into());
    }
    let mut verdicts = Ledger::read()?.verdicts(&all);
    if options.list {
        selected.iter().for_each(|&at| println!("{}", all[at]));
    } else {
        let hints = selected.iter().map(|&at| (&all[at], &verdicts[at]));
        let hints: Vec<_> = hints.collect();
        let found = Campaign::new(options.limit, hints.len()).run(&hints)?;
        for (&at, verdict) in selected.iter().zip(found) {
            verdicts[at] = verdict;
        }
    }
    if options.write {
        ledger::write(&all, &verdicts)?;
    }
    if options.list {
        return Ok(ExitCode::SUCCESS);
    }
    let count = |is: fn(&Verdict) -> bool| {
        let judged = selected.iter().map(|&at| &verdicts[at]);
        judged.filter(|verdict| is(verdict)).count()
    };
    let survived = count(|verdict| *verdict == Verdict::Survived);
    println!(
        "{} killed, {} survived with an explanation, {survived} survived",
        count(|verdict| matches!(verdict, Verdict::Killed(_))),
        count(|verdict| matches!(verdict, Verdict::Explained(_))),
    );
    Ok(Tally::of(survived == 0).exit_code())
}

/// Lists what is wrong with the table of verdicts, or with [`MODELS`].
pub(crate) fn complaints() -> Result<Vec<String>> {
    let models = loom::names()?;
    let mut complaints = Ledger::read()?.complaints(&mutants()?, &models);
    for (sources, programs) in MODELS {
        if !root().join(sources).exists() {
            complaints.push(format!("xtask/src/commands/orderings.rs: no {sources}"));
        }
        for program in *programs {
            let prefix = format!("{program}::");
            if !models.iter().any(|model| model.starts_with(&prefix)) {
                complaints.push(format!(
                    "xtask/src/commands/orderings.rs: no models in {program}"
                ));
            }
        }
    }
    Ok(complaints)
}

/// The model programs that are about each source. A source that is not here has no model, so that
/// every mutant would survive: the threads of the processors and the scheduler, whose words are
/// models' subjects and whose composition is not yet.
const MODELS: &[(&str, &[&str])] = &[
    ("crates/build-scheduler/src/combiner.rs", &["combiner"]),
    ("crates/data-cell/src", &["data_cell"]),
    ("crates/deque/src", &["deque", "deque_memory"]),
    ("crates/engine/src/completion.rs", &["engine"]),
    ("crates/engine/src/data/owners.rs", &["engine"]),
    ("crates/engine/src/route.rs", &["engine"]),
    ("crates/event-queue/src", &["event_queue"]),
    ("crates/fork-join/src", &["fork_join"]),
    ("crates/injector/src", &["injector"]),
    ("crates/parker/src", &["parker"]),
    ("crates/process-state/src", &["process_state"]),
    ("crates/processors/src", &["handoff", "sleep_wake"]),
    ("crates/promise/src/promise.rs", &["promise"]),
    ("crates/promise/src/rival.rs", &["rival"]),
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
    MODELS
        .iter()
        .find(|(sources, _)| file.starts_with(sources))
        .map(|(_, models)| *models)
}

/// All mutants of shipped code that has models.
fn mutants() -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in files_below(root(), &["crates"], "rs")? {
        if models_about(&file).is_some() {
            let text = fs::read_to_string(root().join(&file))?;
            mutants.extend(mutant::of(&file, &text));
        }
    }
    Ok(mutants)
}

/// A copy of the tree per processor, so that mutants are at work at the same time.
fn copies() -> Result<Vec<Tree>> {
    let place = root().join("target/orderings");
    let copy = |number| Tree {
        root: place.join(format!("tree-{number}")),
        target: place.join(format!("build-{number}")),
    };
    let copies: Vec<_> = (0..thread::available_parallelism()?.get())
        .map(copy)
        .collect();
    let trees: Vec<_> = copies.iter().map(|copy| copy.root.clone()).collect();
    copies::make("orderings", &trees, &BTreeMap::new())?;
    Ok(copies)
}

/// One run.
struct Campaign {
    limit: u64,
    mutants: usize,
    judged: AtomicUsize,
    /// The number of mutants that each model has killed: the good killers go first.
    kills: Mutex<BTreeMap<String, usize>>,
}

impl Campaign {
    fn new(limit: u64, mutants: usize) -> Self {
        Self {
            limit,
            mutants,
            judged: AtomicUsize::new(0),
            kills: Mutex::default(),
        }
    }

    /// The verdict on each mutant; beside it is the last one that is known.
    fn run(&self, mutants: &[(&Mutant, &Verdict)]) -> Result<Vec<Verdict>> {
        let copies = copies()?;
        let mut suites: Vec<_> = mutants
            .iter()
            .filter_map(|(mutant, _)| models_about(&mutant.file))
            .collect();
        suites.dedup();
        println!("{} mutants; first, the models without any", self.mutants);
        // Otherwise every mutant would seem killed.
        parallel::each(&copies, &suites, |copy, suite| {
            match loom::first_failure(copy, suite, self.limit, |_| 0)? {
                Some(model) => Err(format!("{model} fails without any mutant").into()),
                None => Ok(()),
            }
        })?;
        parallel::each(&copies, mutants, |copy, (mutant, last)| {
            let started = Instant::now();
            let verdict = self.judge(mutant, last, copy)?;
            println!(
                "[{}/{}] {mutant}  {}  ({:.1} s)",
                self.judged.fetch_add(1, Ordering::Relaxed) + 1,
                self.mutants,
                verdict.text(),
                started.elapsed().as_secs_f64()
            );
            Ok(verdict)
        })
    }

    fn judge(&self, mutant: &Mutant, last: &Verdict, copy: &Tree) -> Result<Verdict> {
        let kills = self.kills.lock().expect("no holder panics").clone();
        // The one that killed it last time, then those that have killed most.
        let rank = |model: &str| match last {
            Verdict::Killed(killer) if killer == model => 0,
            _ => usize::MAX - kills.get(model).copied().unwrap_or(0),
        };
        let original = fs::read_to_string(root().join(&mutant.file))?;
        let place = copy.root.join(&mutant.file);
        fs::write(&place, mutant.apply(&original))?;
        let models = models_about(&mutant.file).unwrap_or_default();
        let killer = loom::first_failure(copy, models, self.limit, rank);
        fs::write(&place, original)?;
        let killer = killer.map_err(|error| format!("{mutant}: {error}"))?;
        Ok(match (killer, &mutant.reason) {
            (Some(model), _) => {
                let mut kills = self.kills.lock().expect("no holder panics");
                *kills.entry(model.clone()).or_default() += 1;
                Verdict::Killed(model)
            }
            (None, Some(reason)) => Verdict::Explained(reason.clone()),
            (None, None) => Verdict::Survived,
        })
    }
}
