//! `cargo xtask book`: builds the book in `docs` and follows its links.

mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::support::error::Result;
use crate::support::process::{cargo, files_below, root, target_directory, tee};
use crate::support::tally::Tally;

use links::Page;

/// The version that is installed where there is none: known to build the book without warnings.
const VERSION: &str = "0.5.4";

/// Where mdbook writes, as `docs/book.toml` says.
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
    if built.exists() {
        fs::remove_dir_all(&built)?;
    }
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

/// The program: the one in the path, or ours, which is installed by the first call.
fn mdbook() -> Result<PathBuf> {
    let installed = PathBuf::from("mdbook");
    if is_usable(&installed) {
        return Ok(installed);
    }
    let place = target_directory("tools");
    let ours = place.join("bin/mdbook");
    if !is_usable(&ours) {
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
    Ok(ours)
}

/// Whether it is there, and of a version that understands `docs/book.toml`.
fn is_usable(program: &Path) -> bool {
    let Ok(output) = Command::new(program).arg("--version").output() else {
        return false;
    };
    // `mdbook v0.5.4`
    let version = String::from_utf8_lossy(&output.stdout);
    let wanted = VERSION
        .rsplit_once('.')
        .map_or(VERSION, |(series, _)| series);
    version
        .trim()
        .trim_start_matches("mdbook v")
        .starts_with(&format!("{wanted}."))
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
