//! `cargo xtask book`: builds the book in `docs`. Its links are followed by `cargo xtask lint`.

use std::path::PathBuf;
use std::process::Command;

use crate::support::Result;
use crate::support::process::{cargo, fresh_folder, root, target_directory, tee};
use crate::support::tally::Tally;

/// The version that is installed: known to build the book without warnings.
const VERSION: &str = "0.5.4";

/// Builds the book in `target/book`. A warning of mdbook's is a failure.
pub(crate) fn check() -> Result<Tally> {
    let built = target_directory("book");
    fresh_folder(&built)?;
    let mut build = Command::new(mdbook()?);
    build.args(["build", "docs", "--dest-dir"]).arg(&built);
    let (status, output) = tee(build.current_dir(root()))?;
    let is_well = status.success() && !output.lines().any(is_warning);
    Ok(Tally::of(is_well))
}

/// mdbook's log: ` WARN Could not …`, or `2026-01-01 12:00:00 [WARN] (mdbook::…): …`.
fn is_warning(line: &str) -> bool {
    let mut words = line.split(|character: char| !character.is_alphanumeric());
    words.any(|word| matches!(word, "WARN" | "ERROR"))
}

/// The program, which is installed by the first call.
fn mdbook() -> Result<PathBuf> {
    let place = target_directory("tools").join(format!("mdbook-{VERSION}-search"));
    let program = place.join("bin/mdbook");
    if !program.exists() {
        let folder = place.display();
        println!("installing mdbook {VERSION} in {folder}: some minutes, once");
        let mut install = cargo();
        install
            // Unoptimised: it builds one small book. Without its server, most of the work.
            .args(["install", "mdbook", "--version", VERSION, "--locked"])
            .args(["--no-default-features", "--features", "search"])
            .args(["--debug", "--root"])
            .arg(&place)
            .env("CARGO_TARGET_DIR", place.join("build"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
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
            "2026-01-01 00:00:00 [ERROR] (mdbook): no chapter"
        ));
        assert!(!is_warning(" INFO Book building has started"));
        assert!(!is_warning(" INFO Warnings.md is a chapter"));
    }
}
