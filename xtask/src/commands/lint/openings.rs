//! The first word of a doc comment: a verb or a noun, never a question.

use std::fs;
use std::path::Path;

use super::finding::Finding;
use crate::support::error::Result;
use crate::support::process::root;

/// The words that open a riddle.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Who"];

pub(super) fn check(file: &Path) -> Result<Vec<Finding>> {
    let is_code = file.extension().is_some_and(|extension| extension == "rs");
    if !is_code {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(root().join(file))?;
    Ok(check_text(file, &text))
}

fn check_text(file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut block = None;
    for (index, line) in text.lines().enumerate() {
        let (marker, sentence) = doc_comment(line).unzip();
        let opens = marker != block;
        block = marker;
        let Some(word) = sentence.and_then(question).filter(|_| opens) else {
            continue;
        };
        findings.push(Finding {
            file: file.to_owned(),
            line: index + 1,
            message: format!("opens with `{word}`: begin with a verb or a noun"),
        });
    }
    findings
}

/// The marker of a doc comment, `///` or `//!`, and the text behind it.
fn doc_comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    let marked = ["///", "//!"]
        .into_iter()
        .find_map(|marker| Some((marker, line.strip_prefix(marker)?)));
    // Four slashes are an ordinary comment.
    marked.filter(|(_, text)| !text.starts_with('/'))
}

/// The question word that `sentence` begins with.
fn question(sentence: &str) -> Option<&'static str> {
    let text = sentence.trim_start_matches([' ', '*', '_']);
    QUESTIONS.iter().copied().find(|word| {
        let behind = text.strip_prefix(word);
        behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check_text;

    fn lines(text: &str) -> Vec<usize> {
        let findings = check_text(Path::new("a.rs"), text);
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn questions_are_found_at_the_start_of_a_block() {
        let text = "//! What it is.\n\n/// Whether it is.\nfn a() {}\n    /// **How** it is.\n";
        assert_eq!(lines(text), [1, 3, 5]);
        let message = check_text(Path::new("a.rs"), "/// Who's in it.\n")[0].to_string();
        assert_eq!(
            message,
            "a.rs:1: opens with `Who`: begin with a verb or a noun"
        );
    }

    #[test]
    fn an_item_behind_its_module_s_comment_has_a_block_of_its_own() {
        assert_eq!(lines("//! A module.\n/// What it has.\n"), [2]);
        assert_eq!(lines("/// A field.\n#[cold]\n/// What it has.\n"), [3]);
    }

    #[test]
    fn wrapped_lines_and_later_paragraphs_are_not_openings() {
        let text = "/// Returns\n/// What it has.\n///\n/// How it ends:\n/// ```\n/// What\n";
        assert_eq!(lines(text), [0; 0]);
    }

    #[test]
    fn longer_words_and_other_comments_are_no_questions() {
        let text = "/// However it ends.\n\n/// Whose it is.\n\n// What it is.\n//// What it is.\n";
        assert_eq!(lines(text), [0; 0]);
    }
}
