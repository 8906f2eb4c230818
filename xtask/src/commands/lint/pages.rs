//! Statements of the pages that a program can check: their length, and numbers that the code knows.

use std::fs;
use std::path::Path;

use crate::commands::weigh::words;
use crate::support::Result;
use crate::support::process::root;

/// The most words of a page, by the first name that is its own; a star stands for anything.
/// Of all pages together, `cargo xtask weigh` knows the most.
const MOST_WORDS: &[(&str, usize)] = &[
    ("README.md", 900),
    ("crates/*/README.md", 700),
    ("crates/*/STATES.md", 1500),
    ("docs/correctness.md", 1500),
    ("docs/performance.md", 2500),
    ("docs/tour/deque.md", 2000),
    ("docs/tour/*", 1000),
];

/// The pages that say how many there are of something, the word for it, the file that knows (the
/// page itself, if it is empty), and the beginning of each line there that is one.
const COUNTED: &[(&str, &str, &str, &str)] = &[
    ("README.md", "schedulers", "docs/rows.toml", "name = "),
    ("docs/tour/*", "stages", "", "## "),
];

const NUMBERS: &str = "none one two three four five six seven eight nine ten eleven twelve";

/// Finds the statements of a page that are false, each with its line, counted from 1.
pub(super) fn check(file: &Path, text: &str) -> Result<Vec<(usize, String)>> {
    let name = file.to_string_lossy();
    let mut found = Vec::new();
    let own = MOST_WORDS.iter().find(|(of, _)| is_one_of(&name, of));
    let number = words(text);
    if let Some((_, most)) = own.filter(|(_, most)| number > *most) {
        found.push((1, format!("{number} words; {most} at most")));
    }
    for (of, noun, source, begin) in COUNTED {
        if is_one_of(&name, of) {
            let read = fs::read_to_string(root().join(source));
            let known = if source.is_empty() { text } else { &*read? };
            let count = known.lines().filter(|line| begins(line, begin)).count();
            let said = numbers(text, noun).into_iter();
            let wrong = said.filter(|(_, said)| *said != count);
            found.extend(wrong.map(|(line, said)| {
                (line, format!("{said} {noun} here, and {count} in the code"))
            }));
        }
    }
    if ["README.md", "CONTRIBUTING.md"].contains(&&*name) {
        let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
        let oldest = manifest.split("rust-version = \"").nth(1);
        let oldest = oldest.and_then(|rest| rest.split('"').next());
        found.extend(wrong_rust(text, oldest.unwrap_or_default()));
    }
    Ok(found)
}

fn is_one_of(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => name.starts_with(begin) && name.ends_with(end),
        None => name == pattern,
    }
}

/// A heading counts if it has a number.
fn begins(line: &str, begin: &str) -> bool {
    let rest = line.strip_prefix(begin);
    rest.is_some_and(|rest| begin != "## " || rest.starts_with(|letter: char| letter.is_numeric()))
}

/// Returns the lines, counted from 1, that end the words `NUMBER NOUN`, and the numbers.
fn numbers(text: &str, noun: &str) -> Vec<(usize, usize)> {
    let (mut found, mut before) = (Vec::new(), None);
    for (index, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            if word.trim_end_matches([',', '.', ':', ';']) == noun {
                found.extend(before.map(|number| (index + 1, number)));
            }
            let small = NUMBERS.split(' ').position(|of| of == word.to_lowercase());
            before = small.or_else(|| word.parse().ok());
        }
    }
    found
}

/// Finds the versions of Rust that are not the oldest one.
fn wrong_rust(text: &str, oldest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for rest in line.split("Rust 1.").skip(1) {
            let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if format!("1.{minor}") != oldest {
                let message = format!("Rust 1.{minor}: the manifest has {oldest}");
                found.push((index + 1, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_statement_is_checked_against_its_source() {
        let found = |page: &str, text: &str| super::check(page.as_ref(), text).unwrap();
        let page = "In Two\nstages, or 3 stages.\n## 1 · a\n## 2 · b\n## Other\n";
        let expected = (2, "3 stages here, and 2 in the code".to_owned());
        assert_eq!(found("docs/tour/x.md", page), [expected]);
        let long = "a ".repeat(1001);
        assert_eq!(found("docs/tour/x.md", &long).len(), 1);
        assert_eq!(found("docs/tour/deque.md", &long).len(), 0);
        assert_eq!(found("README.md", "Rust 1.8 and 4 schedulers").len(), 2);
    }
}
