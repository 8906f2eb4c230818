//! `cargo xtask lint`: the house rules that neither rustc nor clippy knows.

mod circles;
mod finding;
mod layers;
mod openings;
mod text;
mod unsafety;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::commands::beside::Beside;
use crate::commands::{mutants, orderings};
use crate::support::error::Result;
use crate::support::metadata::Workspace;
use crate::support::process::root;
use crate::support::tally::Tally;

use finding::Finding;

pub(crate) use layers::{primitives, primitives_without_std};

pub(crate) fn run() -> Result<ExitCode> {
    let tally = check(&Workspace::read()?)?;
    println!("{tally}");
    Ok(tally.exit_code())
}

/// Prints every finding; each file and each package counts as one check.
pub(crate) fn check(workspace: &Workspace) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut note = |findings: Vec<Finding>| {
        tally += Tally::of(findings.is_empty());
        for finding in findings {
            println!("{finding}");
        }
    };
    for (package, member) in &workspace.members {
        note(layers::check(package, member));
    }
    for beside in Beside::ALL {
        for (package, member) in &beside.workspace()?.members {
            note(layers::check(package, member));
        }
    }
    for package in packages()? {
        note(circles::check(&package)?);
    }
    let files = text::files()?;
    for file in &files {
        note(text::check(file)?);
    }
    note(unsafety::check(&files)?);
    let whole = |(file, message)| Finding {
        file,
        line: 1,
        message,
    };
    let verdicts = orderings::complaints()?.into_iter();
    let page = |message| whole((PathBuf::from(orderings::PAGE), message));
    note(verdicts.map(page).collect());
    let verdicts = mutants::complaints()?.into_iter();
    let place = |(name, message)| whole((mutants::place(name), message));
    note(verdicts.map(place).collect());
    Ok(tally)
}

/// The folders of the packages whose files have an order: the libraries, the program, and this.
fn packages() -> Result<Vec<PathBuf>> {
    let mut packages = vec![PathBuf::from("xtask")];
    for folder in ["apps", "crates", "compat"] {
        for entry in fs::read_dir(root().join(folder))? {
            let package = Path::new(folder).join(entry?.file_name());
            if root().join(&package).join("src").is_dir() {
                packages.push(package);
            }
        }
    }
    packages.sort();
    Ok(packages)
}
