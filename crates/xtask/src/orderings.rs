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
    for mutant in &mutants {
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

/// All mutants of the library crates' shipped code.
fn mutants(filter: &str) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for file in files_below(&["crates"], "rs")? {
        let path = file.to_string_lossy();
        let is_shipped = path.contains("/src/")
            && !file.starts_with("crates/xtask")
            && !file.starts_with("crates/sync");
        if is_shipped && path.contains(filter) {
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
    let killer = loom::first_failure(copy, mutant.package_name(), limit);
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
    let listed = list.current_dir(root()).output()?;
    for name in String::from_utf8(listed.stdout)?.lines() {
        copy_file(&root().join(name), &copy.root.join(name))?;
    }
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
