//! `cargo xtask book`: builds the book in `docs` and follows its links.

mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::support::error::Result;
use crate::support::process::{cargo, files_below, fresh_folder, root, target_directory, tee};
use crate::support::tally::Tally;

use links::Page;

/// The version that is installed: known to build the book without warnings.
const VERSION: &str = "0.5.4";

/// The folder that mdbook writes to, as `docs/book.toml` says.
const BUILT: &str = "target/book";

pub(crate) fn run() -> Result<ExitCode> {
    let tally = check()?;
    println!("{tally}");
    Ok(tally.exit_code())
}

/// Builds the book, and counts its pages: one with a link that leads nowhere has failed, and a
/// warning of mdbook's is a failure, too.
pub(crate) fn check() -> Result<Tally> {
    let mdbook = mdbook()?;
    let built = root().join(BUILT);
    // What an earlier build left would be linked to.
    fresh_folder(&built)?;
    let mut build = Command::new(mdbook);
    build
        .args(["build", "docs", "--dest-dir"])
        .arg(&built)
        .current_dir(root());
    let (status, output) = tee(&mut build)?;
    if !status.success() {
        return Err("mdbook cannot build the book".into());
    }
    let mut tally = Tally::default();
    if output.lines().any(is_warning) {
        println!("error: the book builds with warnings");
        tally += Tally::of(false);
    }
    for (name, broken) in links::broken(&pages(&built)?, &|file| built.join(file).is_file()) {
        tally += Tally::of(broken.is_empty());
        for message in broken {
            println!("{BUILT}/{name}: {message}");
        }
    }
    Ok(tally)
}

/// mdbook's log: ` WARN Could not …`, or `2026-01-01 12:00:00 [WARN] (mdbook::…): …`.
fn is_warning(line: &str) -> bool {
    let mut words = line.split(|character: char| !character.is_alphanumeric());
    words.any(|word| matches!(word, "WARN" | "ERROR"))
}

/// The pages of the built book, by their paths in it.
fn pages(built: &Path) -> Result<Vec<(String, Page)>> {
    let mut pages = Vec::new();
    for file in files_below(built, &[""], "html")? {
        let name = file.to_string_lossy().into_owned();
        // Its links begin at the address that the book is not published at.
        if name != "404.html" {
            pages.push((name, Page::parse(&fs::read_to_string(built.join(&file))?)));
        }
    }
    Ok(pages)
}

/// The program, which is installed by the first call.
fn mdbook() -> Result<PathBuf> {
    let place = target_directory("tools").join(format!("mdbook-{VERSION}"));
    let program = place.join("bin/mdbook");
    if !program.exists() {
        println!(
            "installing mdbook {VERSION} in {}: some minutes, once",
            place.display()
        );
        let mut install = cargo();
        install
            // Unoptimised: it builds one small book. Without its server and its search, which would
            // be most of the work.
            .args(["install", "mdbook", "--version", VERSION, "--locked"])
            .args(["--no-default-features", "--debug", "--root"])
            .arg(&place)
            .env("CARGO_TARGET_DIR", place.join("build"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0");
        if !install.status()?.success() {
            return Err("mdbook cannot be installed".into());
        }
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::is_warning;

    #[test]
    fn warnings_are_told_from_the_rest() {
        assert!(is_warning(" WARN unclosed HTML tag `<T>` found in `a.md`"));
        assert!(is_warning(
            "2026-01-01 00:00:00 [ERROR] (mdbook): no such chapter"
        ));
        assert!(!is_warning(" INFO Book building has started"));
        assert!(!is_warning(" INFO Warnings.md is a chapter"));
    }
}
