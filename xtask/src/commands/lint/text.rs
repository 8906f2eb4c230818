//! Rules about the lines of a file, which is read without its syntax.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::names::Names;
use super::{Finding, links, pages};
use crate::support::Result;
use crate::support::code::{begins_tests, contains_word, is_for_tests, note_above};
use crate::support::process::root;

/// A file of code is read in one sitting.
const MOST_LINES: usize = 400;

/// The width at which two files fit beside each other.
const COLUMNS: usize = 100;

/// The book's table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Lines, counted from 1, and what is wrong with them.
type Found = Vec<(usize, String)>;

pub(super) fn check(file: &Path, names: &Names) -> Result<Vec<Finding>> {
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    if !["rs", "md", "toml", "yml", "sh"].contains(&extension) {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(root().join(file))?;
    let mut found = match extension {
        "rs" => [check_code(file, &text), openings(&text)].concat(),
        "md" => check_page(file, &text)?,
        _ => wide_lines(&text, |line| !line.starts_with('#')),
    };
    found.extend(names.check(file, &text));
    let finding = |(line, message)| Finding {
        file: file.to_owned(),
        line,
        message,
    };
    Ok(found.into_iter().map(finding).collect())
}

/// The lines that are too wide, but for those that may be.
fn wide_lines(text: &str, mut may_be: impl FnMut(&str) -> bool) -> Found {
    let mut found = Found::new();
    for (index, line) in text.lines().enumerate() {
        let may_be = may_be(line.trim_start());
        if line.chars().count() > COLUMNS && !may_be {
            found.push((index + 1, format!("wider than {COLUMNS} columns")));
        }
    }
    found
}

fn is_row(line: &str) -> bool {
    line.starts_with('|') && line.ends_with('|')
}

fn check_code(file: &Path, text: &str) -> Found {
    let is_in = |folder: &str| file.iter().any(|part| part == folder);
    let mut in_tests = is_for_tests(file) || is_in("loom-tests");
    // Shipped code whose orderings matter; the shim merely passes them on.
    let is_library = file.starts_with("crates") || file.starts_with("apps");
    let is_algorithm = is_library && !is_in("examples") && !file.starts_with("crates/sync");
    // A table in a comment; what rustc is expected to say of a line stands on that line.
    let mut found = wide_lines(text, |line| {
        let comment = line.strip_prefix("//").unwrap_or_default();
        is_row(comment.trim_start_matches(['/', '!']).trim_start()) || line.contains(" //~ ")
    });
    let lines: Vec<_> = text.lines().collect();
    let number = lines.len();
    if number > MOST_LINES {
        found.push((number, format!("{number} lines; {MOST_LINES} at most")));
    }
    // A crate's root may have its README in that place.
    if !text.starts_with("//! ") && !text.starts_with("#![doc = include_str!(") {
        let message = "does not begin with a `//!` that says what it is for";
        found.push((1, message.to_owned()));
    }
    // With the type, unless the file imports the orderings.
    let bare_orderings = text.contains("Ordering::{") || text.contains("Ordering::*");
    for (index, line) in lines.iter().enumerate() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let mut report = |message: &str| found.push((index + 1, message.to_owned()));
        in_tests |= begins_tests(code);
        if contains_word(comment, &["TODO", "FIXME", "XXX"]) {
            report("unfinished work belongs in an issue");
        }
        if in_tests && code.contains("thread::sleep(") {
            report("a test that sleeps is slow, and passes by luck");
        }
        if !is_algorithm || in_tests || code.trim_start().starts_with("use ") {
            continue;
        }
        if contains_word(code, &["SeqCst"]) && !code.contains("fence(") {
            report("SeqCst on an access: loom takes it for AcqRel; use fence(SeqCst) or an RMW");
        }
        let orderings = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
        let is_named = |name: &&str| {
            contains_word(code, &[&format!("Ordering::{name}")])
                || bare_orderings && contains_word(code, &[name])
        };
        if orderings.iter().any(is_named) && note_above(&lines, index).is_none() {
            report("no ORDERING: note");
        }
    }
    found
}

/// Links lead somewhere, and every page of `docs` is a chapter.
fn check_page(file: &Path, text: &str) -> Result<Found> {
    let mut in_fence = false;
    // A word that is too long by itself, as a link may be, cannot be cut.
    let mut found = wide_lines(text, |line| {
        in_fence ^= line.starts_with("```");
        let mut words = line.split(' ').map(|word| word.chars().count());
        in_fence || is_row(line) || words.any(|word| word > COLUMNS - 10)
    });
    found.extend(links::check(file, text));
    found.extend(pages::check(file, text)?);
    if let Ok(page) = file.strip_prefix("docs")
        && file != Path::new(SUMMARY)
    {
        let summary = fs::read_to_string(root().join(SUMMARY))?;
        if !summary.contains(&format!("]({})", page.display())) {
            found.push((1, format!("not a chapter: add it to {SUMMARY}")));
        }
    }
    Ok(found)
}

/// The words that open a riddle.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Who"];

/// Finds the lines, counted from 1, at which a doc comment opens so.
fn openings(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mut markers = ["///", "//!"].into_iter();
        // Four slashes are an ordinary comment.
        let is_it = |marker: &&str| line.starts_with(marker) && !line.starts_with("////");
        let marker = markers.find(is_it).unwrap_or_default();
        if !marker.is_empty() && marker != block {
            let text = line[marker.len()..].trim_start_matches([' ', '*', '_']);
            let first = text.split(|letter: char| !letter.is_alphanumeric()).next();
            if let Some(word) = first.filter(|word| QUESTIONS.contains(word)) {
                let message = format!("opens with `{word}`: begin with a verb or a noun");
                found.push((index + 1, message));
            }
        }
        block = marker;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check_code, check_page, openings};

    /// The lines of a file in which something is found; the first one says what it is for.
    fn code(file: &str, lines: &[&str]) -> Vec<usize> {
        let text = format!("//! A file.\n{}", lines.join("\n"));
        let found = check_code(Path::new(file), &text.replace('…', &"long ".repeat(25)));
        found.into_iter().map(|(line, _)| line).collect()
    }

    const SOURCE: &str = "crates/deque/src/top.rs";

    #[test]
    fn a_file_says_what_it_is_for_and_leaves_nothing_unfinished() {
        let lines = |text| check_code(Path::new(SOURCE), text).len();
        assert_eq!(lines("//! The queue.\n"), 0);
        assert_eq!(lines("#![doc = include_str!(\"../README.md\")]\n"), 0);
        assert_eq!(lines("// The queue.\n//! Or so.\n"), 1);
        assert_eq!(code(SOURCE, &["let x = y; /\u{2f} TODO: no"]), [2]);
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
        assert_eq!(code(SOURCE, &lines), [2, 3, 5]);
        let [fits, is_wide] = [100, 101].map(|columns| "é".repeat(columns));
        assert_eq!(code(SOURCE, &[&fits, &is_wide]), [3]);
    }

    #[test]
    fn an_access_needs_its_note_and_sequential_consistency_is_for_fences() {
        let note = "// ORDERING: pairs with g.";
        let bare = ["fn f() {", "x.load(Ordering::Acquire);", "}"];
        assert_eq!(code(SOURCE, &bare), [3]);
        assert_eq!(code("crates/deque/tests/stress.rs", &bare), [0; 0]);
        assert_eq!(code(SOURCE, &[note, "x.load(Ordering::Acquire);"]), [0; 0]);
        assert_eq!(code(SOURCE, &[note, "fence(Ordering::SeqCst);"]), [0; 0]);
        assert_eq!(code(SOURCE, &[note, "x.store(1, Ordering::SeqCst);"]), [3]);
    }

    #[test]
    fn sleeping_tests_are_found() {
        let lines = [
            "#[cfg(test)]",
            "mod tests {",
            "thread\u{3a}:sleep(ten);",
            "}",
        ];
        assert_eq!(code(SOURCE, &lines), [4]);
    }

    #[test]
    fn prose_is_narrow_and_rows_fences_and_long_words_need_not_be() {
        let link = format!("[a](https://{})", "x".repeat(110));
        let lines = ["…", "| … |", "```", "…", "```", &link, "- …"].join("\n");
        let text = lines.replace('…', &"long ".repeat(25));
        let found = check_page(Path::new("a.md"), &text).unwrap();
        assert!(found.iter().map(|(line, _)| *line).eq([1, 7]));
    }

    fn lines(text: &str) -> Vec<usize> {
        openings(text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn questions_are_found_at_the_start_of_a_block() {
        let text = "//! What it is.\n\n/// Whether it is.\nfn a() {}\n    /// **How** it is.\n";
        assert_eq!(lines(text), [1, 3, 5]);
        let (line, message) = &openings("/// Who's in it.\n")[0];
        assert_eq!(*line, 1);
        assert_eq!(message, "opens with `Who`: begin with a verb or a noun");
    }

    #[test]
    fn an_item_behind_its_module_s_comment_has_a_block_of_its_own() {
        assert_eq!(lines("//! A module.\n/// What it has.\n"), [2]);
        assert_eq!(lines("/// A field.\n#[cold]\n/// What it has.\n"), [3]);
    }

    #[test]
    fn wrapped_lines_longer_words_and_other_comments_are_no_openings() {
        let text = "/// Returns\n/// What it has.\n///\n/// How it ends:\n/// ```\n/// What\n\n\
                    /// However it ends.\n\n// What it is.\n//// What it is.\n";
        assert_eq!(lines(text), [0; 0]);
    }
}
