//! The pages and the chart that show a stored run. A test sees that nobody has edited them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::Unfit;
use crate::reasons::Reasons;
use crate::run::Run;
use crate::{headlines, page};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
/// The page that says which run is shown.
const PAGE: &str = "docs/performance.md";
/// The page with every row.
const ROWS: &str = "docs/performance-rows.md";
const CHART: &str = "docs/headlines.svg";
const REASONS: &str = "benches/reasons.toml";
/// The folder of the stored runs, from the repository's root.
const RUNS: &str = "benches/results";

/// The folder of the stored runs of this repository, from the current one if that is its root.
pub fn runs() -> PathBuf {
    let root = Path::new(ROOT).canonicalize();
    match (root, std::env::current_dir()) {
        (Ok(root), Ok(here)) if root != here => root.join(RUNS),
        _ => RUNS.into(),
    }
}

/// A file of the repository.
fn read(file: &str) -> Result<String, String> {
    let text = fs::read_to_string(Path::new(ROOT).join(file));
    text.map_err(|error| format!("{file}: {error}"))
}

fn reasons() -> Result<Reasons, String> {
    Reasons::parse(&read(REASONS)?).map_err(|error| format!("{REASONS}: {error}"))
}

/// The files, as the run makes them.
fn files(page: &str, run: &Run, reasons: &Reasons) -> Result<[(&'static str, String); 3], String> {
    let rows = read(ROWS)?;
    if let Some(group) = page::missing_group(&rows, run) {
        return Err(format!("{ROWS}: no table of {group}"));
    }
    Ok([
        (PAGE, page::fill(page, run, reasons)?),
        (ROWS, page::fill(&rows, run, reasons)?),
        (CHART, headlines::chart(run)),
    ])
}

/// Makes them from the run in `folder`, or from the one that is shown already.
///
/// # Errors
/// If the run is not of a commit, not in the repository, or lacks a group, or a file has an error.
pub fn write(folder: Option<&Path>) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let root = Path::new(ROOT).canonicalize().map_err(said)?;
    let mut page = read(PAGE)?;
    if let Some(folder) = folder {
        let folder = folder.canonicalize().map_err(said)?;
        let Ok(folder) = folder.strip_prefix(&root) else {
            return Err(format!("{} is not in the repository", folder.display()));
        };
        page = page::showing(&page, &folder.to_string_lossy());
    }
    let run = Run::read_all(&root.join(page::stored_run(&page)?))?;
    if !run.machine.is_clean() {
        return Err(Unfit::Dirty(run.machine.commit).to_string());
    }
    let reasons = reasons()?;
    for (file, text) in files(&page, &run, &reasons)? {
        fs::write(root.join(file), text).map_err(said)?;
        println!("{file}");
    }
    for row in headlines::missing(&run) {
        println!("{CHART}: the run has no row for {row}");
    }
    for complaint in reasons.complaints(&run) {
        println!("{REASONS}: {complaint}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PAGE, ROOT, files, read, reasons};
    use crate::page;
    use crate::run::Run;

    #[test]
    fn what_is_published_is_as_the_stored_run_makes_it() {
        let page = read(PAGE).expect("it is there");
        let folder = page::stored_run(&page).expect("it says so");
        let run = Run::read_all(&Path::new(ROOT).join(folder)).expect("it is right");
        assert!(run.machine.is_clean(), "{}", run.machine.commit);
        let reasons = reasons().expect("they are right");
        for (file, text) in files(&page, &run, &reasons).expect("they can be made") {
            let is_right = read(file).is_ok_and(|shown| shown == text);
            assert!(is_right, "{file} is not: `cargo xtask bench --tables`");
        }
    }

    /// Whoever wants all rows follows a link.
    #[test]
    fn the_page_can_be_read_in_ten_minutes() {
        let page = read(PAGE).expect("it is there");
        let words = page.split_whitespace().count();
        assert!(words <= 2500, "{words} words");
    }
}
