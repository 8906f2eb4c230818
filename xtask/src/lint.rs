//! `cargo xtask lint`: the house rules that neither rustc nor clippy knows.

mod book;
mod layers;
mod source;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::metadata::Workspace;
use crate::orderings;
use crate::stages::Tally;

pub(crate) use layers::PRIMITIVES_WITHOUT_STD;
pub(crate) use source::begins_tests;

/// A rule that was broken, and where.
struct Finding {
    file: PathBuf,
    /// Counted from 1.
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {}",
            self.file.display(),
            self.line,
            self.message
        )
    }
}

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
    for file in source::files()? {
        note(source::check(&file)?);
    }
    for file in book::files()? {
        note(book::check(&file)?);
    }
    let verdicts = orderings::complaints()?.into_iter().map(|message| Finding {
        file: PathBuf::from(orderings::PAGE),
        line: 1,
        message,
    });
    note(verdicts.collect());
    Ok(tally)
}
