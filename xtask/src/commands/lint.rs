//! `cargo xtask lint`: the house rules that neither rustc nor clippy knows.

mod circles;
mod layers;
mod links;
mod names;
mod pages;
mod text;
mod unsafety;

use std::path::PathBuf;

use crate::commands::mutants::{self, orderings};
use crate::commands::{docs, litmus};
use crate::support::Result;
use crate::support::metadata::Workspace;
use crate::support::process::{BESIDE, known_files, root};
use crate::support::tally::Tally;
pub(crate) use layers::{below, primitives};

/// Prints every finding; each file and each package counts as one check.
pub(crate) fn check() -> Result<Tally> {
    let mut tally = Tally::default();
    let mut note = |findings: Vec<Finding>| {
        tally += Tally::of(findings.is_empty());
        for found in findings {
            println!("{}:{}: {}", found.file.display(), found.line, found.message);
        }
    };
    let layers = layers::layers()?;
    for place in ["", BESIDE[0], BESIDE[1]] {
        for package in Workspace::read(place)?.packages {
            note(layers::check(&package, &layers));
        }
    }
    let files = known_files()?;
    // The libraries, the programs, and this.
    let ours = ["apps", "compat", "crates", "xtask"];
    let is_ours = |file: &&PathBuf| ours.iter().any(|of| file.starts_with(of));
    let manifests = files.iter().filter(|file| file.ends_with("Cargo.toml"));
    for package in manifests.filter(is_ours).filter_map(|file| file.parent()) {
        if root().join(package).join("src").is_dir() {
            note(circles::check(package, &files)?);
        }
    }
    let names = names::Names::read(&files);
    for file in &files {
        note(text::check(file, &names)?);
    }
    note(unsafety::check(&files)?);
    for (page, _) in docs::stale()? {
        let message = "not as the code has it: run `cargo xtask docs`";
        note(vec![Finding::of(page, message)]);
    }
    for message in orderings::complaints()? {
        note(vec![Finding::of(orderings::PAGE, message)]);
    }
    for message in litmus::complaints()? {
        note(vec![Finding::of(litmus::VERDICTS, message)]);
    }
    for (name, message) in mutants::complaints()? {
        note(vec![Finding::of(mutants::place(name), message)]);
    }
    Ok(tally)
}

/// A line that `cargo xtask lint` prints.
struct Finding {
    file: PathBuf,
    /// Counted from 1.
    line: usize,
    message: String,
}

impl Finding {
    /// One about a whole file.
    fn of(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 1,
            message: message.into(),
        }
    }
}
