//! `cargo xtask orderings`: is each ordering needed, and would a model notice if it were weaker?
//!
//! Works on a copy of the tree in `target/orderings`. One mutant at a time: an ordering is weakened by one step, or a
//! fence is taken out, and the models run until one of them fails. A mutant that no model kills is a survivor; it
//! is explained if the `ORDERING` note above it says what `loom cannot` show.

mod mutant;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Args;

use crate::Result;
use crate::loom;
use crate::process::{Tree, files_below, root};
use crate::stages::Tally;

use mutant::Mutant;

#[derive(Args)]
pub(crate) struct Options {
    /// Count a model as failed, and the mutant as killed, once it has run for this long.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,

    /// Only list the mutants.
    #[arg(long)]
    list: bool,

    /// Only files whose path contains this.
    filter: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mutants = mutants(options.filter.as_deref().unwrap_or_default())?;
    if mutants.is_empty() {
        return Err("no ordering is selected".into());
    }
    if options.list {
        for mutant in &mutants {
            println!("{mutant}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let copy = copy_tree()?;
    let (mut killed, mut explained, mut survived) = (0_u64, 0_u64, 0_u64);
    let mut sound: &[&str] = &[];
    for mutant in &mutants {
        let models = models_about(&mutant.file).unwrap_or_default();
        if models != sound {
            // Otherwise every mutant would seem killed.
            if let Some(model) = loom::first_failure(&copy, models, options.limit)? {
                return Err(format!("{model} fails without any mutant").into());
            }
            sound = models;
        }
        let started = Instant::now();
        let verdict = match killer(mutant, &copy, options.limit)? {
            Some(model) => {
                killed += 1;
                format!("killed by {model}")
            }
            None if mutant.is_explained => {
                explained += 1;
                "survived, as its note explains".to_owned()
            }
            None => {
                survived += 1;
                "SURVIVED".to_owned()
            }
        };
        println!(
            "{mutant}  {verdict}  ({:.1} s)",
            started.elapsed().as_secs_f64()
        );
    }
    println!("{killed} killed, {explained} survived with an explanation, {survived} survived");
    Ok(Tally::of(survived == 0).exit_code())
}

/// Which model programs are about which sources. What is not here has no model, so that every mutant would survive: the
/// threads of the processors and the scheduler, whose words are models' subjects and whose composition is not yet.
const MODELS: &[(&str, &[&str])] = &[
    ("crates/deque/src", &["deque", "deque_memory"]),
    ("crates/event-queue/src", &["event_queue"]),
    ("crates/injector/src", &["injector"]),
    ("crates/parker/src", &["parker"]),
    ("crates/process-state/src", &["process_state"]),
    ("crates/processors/src/idle.rs", &["sleep_wake"]),
    ("crates/slab/src/tenancy.rs", &["tenancy"]),
    ("crates/slab/src", &["slab"]),
];

fn models_about(file: &Path) -> Option<&'static [&'static str]> {
    MODELS
        .iter()
        .find(|(sources, _)| file.starts_with(sources))
        .map(|(_, models)| *models)
}

/// All mutants of shipped code that has models.
fn mutants(filter: &str) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in files_below(&["crates"], "rs")? {
        let path = file.to_string_lossy();
        if models_about(&file).is_some() && path.contains(filter) {
            let text = fs::read_to_string(root().join(&file))?;
            mutants.extend(mutant::of(&file, &text));
        }
    }
    Ok(mutants)
}

/// The name of the first model that fails with `mutant` in place.
fn killer(mutant: &Mutant, copy: &Tree, limit: u64) -> Result<Option<String>> {
    let original = fs::read_to_string(root().join(&mutant.file))?;
    let place = copy.root.join(&mutant.file);
    fs::write(&place, mutant.apply(&original))?;
    let models = models_about(&mutant.file).unwrap_or_default();
    let killer = loom::first_failure(copy, models, limit);
    fs::write(&place, original)?;
    killer
}

/// Brings `target/orderings/tree` up to date; what has not changed keeps its time stamp.
fn copy_tree() -> Result<Tree> {
    let copy = Tree {
        root: root().join("target/orderings/tree"),
        target: root().join("target/orderings/build"),
    };
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = String::from_utf8(list.current_dir(root()).output()?.stdout)?;
    // What was copied last time and is gone by now must go: cargo finds test files by looking.
    let record = root().join("target/orderings/files");
    for name in fs::read_to_string(&record).unwrap_or_default().lines() {
        if !root().join(name).exists() {
            let _ = fs::remove_file(copy.root.join(name));
        }
    }
    for name in listed.lines() {
        copy_file(&root().join(name), &copy.root.join(name))?;
    }
    fs::write(record, listed)?;
    Ok(copy)
}

fn copy_file(from: &Path, to: &PathBuf) -> Result<()> {
    let Ok(contents) = fs::read(from) else {
        // Deleted, and the deletion is not committed.
        return Ok(());
    };
    if fs::read(to).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(to, contents)?;
    Ok(())
}
