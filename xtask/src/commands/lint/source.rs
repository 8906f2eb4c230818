//! Rules about the text of a source file.
//!
//! The checks read lines, not syntax.

use std::fs;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::support::code::{begins_tests, contains_word};
use crate::support::error::Result;
use crate::support::process::{PACKAGES, files_below, root};

/// A file is read in one sitting.
const MOST_LINES: usize = 400;

/// How far above an atomic access its `ORDERING:` note may begin: notes are paragraphs, and one may
/// cover a short run of accesses.
const NOTE_REACHES: usize = 20;

/// All Rust files of the workspace, relative to its root, sorted.
pub(super) fn files() -> Result<Vec<PathBuf>> {
    files_below(root(), PACKAGES, "rs")
}

pub(super) fn check(file: &Path) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root().join(file))?;
    Ok(check_text(file, &text))
}

fn check_text(file: &Path, text: &str) -> Vec<Finding> {
    let lines: Vec<_> = text.lines().collect();
    let rules = Rules::of(file);
    let mut findings = Vec::new();
    let mut report = |line: usize, message: &str| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            message: message.to_owned(),
        });
    };
    if lines.len() > MOST_LINES {
        report(
            lines.len(),
            &format!("{} lines; {MOST_LINES} at most", lines.len()),
        );
    }
    let bare_orderings = text.contains("Ordering::{") || text.contains("Ordering::*");
    let mut in_tests = rules.is_test;
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        in_tests |= begins_tests(code);
        if contains_word(comment, &["TODO", "FIXME", "XXX"]) {
            report(number, "unfinished work belongs in an issue");
        }
        if in_tests && code.contains("thread::sleep(") {
            report(number, "a test that sleeps is slow, and passes by luck");
        }
        if !rules.is_algorithm || in_tests || code.trim_start().starts_with("use ") {
            continue;
        }
        if contains_word(code, &["SeqCst"]) && !code.contains("fence(") {
            report(
                number,
                "SeqCst on an access: loom takes it for AcqRel; use fence(SeqCst) or an RMW",
            );
        }
        if names_an_ordering(code, bare_orderings) && !has_note(&lines, index) {
            report(number, "no ORDERING: note");
        }
    }
    findings
}

/// `bare`: the file imports the orderings, so that they stand without their type's name.
fn names_an_ordering(code: &str, bare: bool) -> bool {
    ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"]
        .iter()
        .any(|name| {
            contains_word(code, &[format!("Ordering::{name}").as_str()])
                || bare && contains_word(code, &[name])
        })
}

/// Which rules a file is under.
struct Rules {
    /// All of it is test code.
    is_test: bool,
    /// Shipped code whose orderings matter; the shim merely passes them on.
    is_algorithm: bool,
}

impl Rules {
    fn of(file: &Path) -> Self {
        let is_test = file.starts_with("loom-tests")
            || file.starts_with("tests")
            || file.components().any(|part| part.as_os_str() == "tests");
        let is_example = file.components().any(|part| part.as_os_str() == "examples");
        let is_library = (file.starts_with("crates") || file.starts_with("apps")) && !is_example;
        Self {
            is_test,
            is_algorithm: is_library && !is_test && !file.starts_with("crates/sync"),
        }
    }
}

/// Whether an `ORDERING` note stands on this line or within reach above it, in the same item.
fn has_note(lines: &[&str], index: usize) -> bool {
    let first = index.saturating_sub(NOTE_REACHES);
    for line in lines[first..=index].iter().rev() {
        if line.contains("ORDERING") {
            return true;
        }
        // A closing brace in the first column ends another item.
        if *line == "}" {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check_text;

    fn findings(file: &str, text: &str) -> Vec<usize> {
        check_text(Path::new(file), text)
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = "let x = y; /\u{2f} TODO: no\n";
        assert_eq!(findings("crates/deque/src/top.rs", text), [1]);
    }

    #[test]
    fn an_access_needs_its_note() {
        let noted = "fn f() {\n// ORDERING: pairs with g.\nx.load(Ordering::Acquire);\n}\n";
        assert!(findings("crates/deque/src/top.rs", noted).is_empty());
        let bare = "fn f() {\nx.load(Ordering::Acquire);\n}\n";
        assert_eq!(findings("crates/deque/src/top.rs", bare), [2]);
        assert!(findings("crates/deque/tests/stress.rs", bare).is_empty());
    }

    #[test]
    fn sequential_consistency_is_for_fences() {
        let note = "// ORDERING: either side sees the other.\n";
        let fence = format!("{note}fence(Ordering::SeqCst);\n");
        assert!(findings("crates/parker/src/token.rs", &fence).is_empty());
        let store = format!("{note}x.store(1, Ordering::SeqCst);\n");
        assert_eq!(findings("crates/parker/src/token.rs", &store), [2]);
    }

    #[test]
    fn sleeping_tests_are_found() {
        let sleeping = "#[cfg(test)]\nmod tests {\nthread\u{3a}:sleep(ten);\n}\n";
        assert_eq!(findings("crates/parker/src/token.rs", sleeping), [3]);
    }
}
