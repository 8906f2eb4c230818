//! How a file looks before anybody reads it: its width, and what its first lines say.

use std::fs;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::support::error::Result;
use crate::support::process::{known_files, root};

/// What fits two files beside each other.
const COLUMNS: usize = 100;

/// All files that git knows, and those that it would add, relative to the root.
pub(super) fn files() -> Result<Vec<PathBuf>> {
    let exists = |file: &PathBuf| root().join(file).is_file();
    Ok(known_files()?
        .lines()
        .map(PathBuf::from)
        .filter(exists)
        .collect())
}

pub(super) fn check(file: &Path) -> Result<Vec<Finding>> {
    let kind = match file.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => Kind::Rust,
        Some("md") => Kind::Markdown,
        Some("toml" | "yml" | "sh") => Kind::Settings,
        _ => return Ok(Vec::new()),
    };
    let text = fs::read_to_string(root().join(file))?;
    let mut findings = Vec::new();
    let mut report = |line: usize, message: String| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            message,
        });
    };
    for line in wide_lines(kind, &text) {
        report(line, format!("wider than {COLUMNS} columns"));
    }
    if matches!(kind, Kind::Rust) && !says_what_it_is_for(&text) {
        report(
            1,
            "does not begin with a `//!` that says what it is for".to_owned(),
        );
    }
    Ok(findings)
}

fn says_what_it_is_for(text: &str) -> bool {
    // A crate's root may have its README in that place.
    text.starts_with("//! ") || text.starts_with("#![doc = include_str!(")
}

#[derive(Clone, Copy)]
enum Kind {
    Rust,
    Markdown,
    /// Their values are whatever they are: comments have a width.
    Settings,
}

/// The numbers, counted from 1, of the lines that are too wide.
fn wide_lines(kind: Kind, text: &str) -> Vec<usize> {
    let mut in_fence = false;
    let mut wide = Vec::new();
    for (index, line) in text.lines().enumerate() {
        in_fence ^= line.trim_start().starts_with("```");
        if line.chars().count() > COLUMNS && !may_be_wide(kind, line, in_fence) {
            wide.push(index + 1);
        }
    }
    wide
}

fn may_be_wide(kind: Kind, line: &str, in_fence: bool) -> bool {
    let trimmed = line.trim_start();
    let comment = trimmed.trim_start_matches(['/', '!']).trim_start();
    let is_row = comment.starts_with('|') && comment.ends_with('|');
    match kind {
        // What rustc is expected to say of a line stands on that line.
        Kind::Rust => is_row && comment.len() < trimmed.len() || line.contains(" //~ "),
        // A word that is too long by itself, as a link may be, cannot be cut.
        Kind::Markdown => {
            let longest = trimmed.split(' ').map(|word| word.chars().count()).max();
            is_row || in_fence || longest.is_some_and(|longest| longest > COLUMNS - 10)
        }
        Kind::Settings => !trimmed.starts_with('#'),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, says_what_it_is_for, wide_lines};

    fn wide(kind: Kind, lines: &[&str]) -> Vec<usize> {
        let pad = |line: &&str| line.replace('…', &"long ".repeat(25));
        let lines: Vec<_> = lines.iter().map(pad).collect();
        wide_lines(kind, &lines.join("\n"))
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        assert!(says_what_it_is_for("//! The queue.\n"));
        assert!(says_what_it_is_for(
            "#![doc = include_str!(\"../README.md\")]\n"
        ));
        assert!(!says_what_it_is_for("// The queue.\n//! Or so.\n"));
        assert!(!says_what_it_is_for("use std::fmt;\n"));
    }

    #[test]
    fn columns_are_characters() {
        let line = "é".repeat(100);
        assert!(wide_lines(Kind::Rust, &line).is_empty());
        assert_eq!(wide_lines(Kind::Rust, &format!("{line}é")), [1]);
    }

    #[test]
    fn code_and_comments_are_narrow_and_tables_need_not_be() {
        let lines = [
            "//! …",
            "let x = \"…\";",
            "/// | … |",
            "f(|…|",
            "f(); //~ E0277 …",
        ];
        assert_eq!(wide(Kind::Rust, &lines), [1, 2, 4]);
    }

    #[test]
    fn prose_is_narrow_and_rows_fences_and_long_words_need_not_be() {
        let link = format!("[a]({})", "x".repeat(110));
        let lines = ["…", "| … |", "```", "…", "```", &link, "- …"];
        assert_eq!(wide(Kind::Markdown, &lines), [1, 7]);
    }

    #[test]
    fn of_settings_only_comments_are_narrow() {
        assert_eq!(wide(Kind::Settings, &["# …", "key = \"…\""]), [1]);
    }
}
