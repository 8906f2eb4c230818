//! `docs/rows.md`: each row of the requirements, and the tests that are named after it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::MADE;
use crate::support::Result;
use crate::support::process::root;

pub(super) const PAGE: &str = "docs/rows.md";

/// The rows themselves.
const ROWS: &str = "docs/rows.toml";

/// The five systems, by the letter of their rows.
#[derive(Deserialize)]
struct System {
    name: String,
    rows: BTreeMap<usize, Row>,
}

#[derive(Deserialize)]
struct Row {
    asks: String,
    /// The other way in which it is met, or what is left.
    differs: Option<String>,
}

/// Returns the page. A row that no test is named after is an error.
pub(super) fn page(files: &[PathBuf]) -> Result<String> {
    let systems: BTreeMap<char, System> = toml::from_str(&fs::read_to_string(root().join(ROWS))?)?;
    let tests = tests(files)?;
    let mut page = format!(
        "# Rows\n\n{MADE} docs` from docs/rows.toml and the names of the tests. -->\n\n\
         The requirements, row by row, and the tests that are named after them.\n"
    );
    for (letter, system) in &systems {
        writeln!(page, "\n## {letter} · {}\n", system.name)?;
        page += "| row | asks | tests |\n|---|---|---|\n";
        for (number, row) in &system.rows {
            let named = tests.get(&(letter.to_ascii_lowercase(), *number));
            let named = named.ok_or_else(|| format!("no test of {letter}{number}"))?;
            let (asks, links) = (&row.asks, named.join("<br>"));
            let differs = row
                .differs
                .iter()
                .map(|how| format!(" *Another way:* {how}"));
            let differs: String = differs.collect();
            writeln!(page, "| {letter}{number} | {asks}{differs} | {links} |")?;
        }
    }
    Ok(page)
}

/// Links to the tests of each row.
type Tests = BTreeMap<(char, usize), Vec<String>>;

/// Finds functions that are called `a1_…`, of which nothing else is.
fn tests(files: &[PathBuf]) -> Result<Tests> {
    let mut tests = Tests::new();
    let is_source = |file: &&PathBuf| file.extension().is_some_and(|of| of == "rs");
    for file in files.iter().filter(is_source) {
        for line in fs::read_to_string(root().join(file))?.lines() {
            if let Some((row, test)) = test(line) {
                let link = format!("[`{test}`](../{})", file.display());
                tests.entry(row).or_default().push(link);
            }
        }
    }
    Ok(tests)
}

/// Returns the row and the name of the test that a line begins.
fn test(line: &str) -> Option<((char, usize), &str)> {
    let (name, _) = line.trim_start().strip_prefix("fn ")?.split_once('(')?;
    let letter = name.chars().next()?;
    let is_letter = |letter: char| ('a'..='e').contains(&letter);
    let (number, _) = name.strip_prefix(is_letter)?.split_once('_')?;
    Some(((letter, number.parse().ok()?), name))
}

#[cfg(test)]
mod tests {
    use super::test;

    #[test]
    fn a_test_is_known_by_its_row() {
        let name = "d10_a_task_is_sent";
        assert_eq!(
            test(&format!("    fn {name}() {{")),
            Some((('d', 10), name))
        );
        for other in [
            "fn a_task() {",
            "fn f1_x() {",
            "fn e() {",
            "let d1_x = (1);",
        ] {
            assert_eq!(test(other), None);
        }
    }
}
