//! Finding the orderings of a file, and weakening them.

use std::fmt;
use std::path::{Path, PathBuf};

use super::access;
use crate::support::code::{begins_tests, note_above};

/// A survivor is explained by a note that has these words.
const EXPLANATION: &str = "loom cannot";

/// One ordering, one step weaker.
#[derive(Debug)]
pub(super) struct Mutant {
    pub(super) file: PathBuf,
    /// Counted from 0.
    line: usize,
    column: usize,
    function: String,
    operation: String,
    from: &'static str,
    /// `None`: the fence is taken out.
    to: Option<&'static str>,
    /// The sentence of the note above it that says what loom cannot show.
    pub(super) reason: Option<String>,
}

const ORDERINGS: &[&str] = &["SeqCst", "AcqRel", "Acquire", "Release"];

/// All mutants of a file; its tests are left alone.
pub(super) fn of(file: &Path, text: &str) -> Vec<Mutant> {
    let lines: Vec<_> = text.lines().collect();
    let shipped = lines.iter().take_while(|line| !begins_tests(line)).count();
    let mut mutants = Vec::new();
    for (line, content) in lines[..shipped].iter().enumerate() {
        for (column, _) in access::code(content).match_indices("Ordering::") {
            let name = &content[column + "Ordering::".len()..];
            let Some(from) = ORDERINGS.iter().find(|from| name.starts_with(**from)) else {
                continue;
            };
            let operation = access::operation(&lines, line, column);
            for &to in access::weaker(&operation, from) {
                mutants.push(Mutant {
                    file: file.to_owned(),
                    line,
                    column,
                    function: access::function(&lines, line).to_owned(),
                    operation: operation.clone(),
                    from,
                    to,
                    reason: reason(&comments_above(&lines, line)),
                });
            }
        }
    }
    mutants
}

/// The comments right above a line, down from the nearest note.
fn comments_above(lines: &[&str], line: usize) -> String {
    let note = note_above(lines, line).unwrap_or_default();
    let comments = note.iter().filter_map(|line| line.split_once("//"));
    let words: Vec<_> = comments.map(|(_, comment)| comment.trim()).collect();
    words.join(" ")
}

/// The sentence of a note that explains a survivor.
fn reason(note: &str) -> Option<String> {
    let sentence = note
        .split(". ")
        .find(|sentence| sentence.contains(EXPLANATION))?;
    Some(sentence.trim_end_matches('.').to_owned())
}

impl Mutant {
    /// `text` with the ordering weakened.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut mutated = String::new();
        for (number, line) in text.lines().enumerate() {
            if number != self.line {
                mutated += line;
            } else if let Some(to) = self.to {
                let (before, rest) = line.split_at(self.column);
                let rest = rest.trim_start_matches("Ordering::");
                mutated += &format!("{before}Ordering::{to}{}", &rest[self.from.len()..]);
            }
            mutated.push('\n');
        }
        mutated
    }

    /// Returns its name, which does not depend on what stands above it in the file.
    pub(super) fn name(&self) -> Name {
        Name {
            file: self.file.display().to_string(),
            function: self.function.clone(),
            access: self.operation.clone(),
            from: self.from.to_owned(),
            to: self.to.unwrap_or("no fence").to_owned(),
        }
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        let (file, line) = (&name.file, self.line + 1);
        write!(formatter, "{file}:{line} {}", name.in_file())
    }
}

/// The name of a mutant in the table of verdicts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) file: String,
    pub(super) function: String,
    pub(super) access: String,
    pub(super) from: String,
    pub(super) to: String,
}

impl Name {
    fn in_file(&self) -> String {
        let Self {
            function,
            access,
            from,
            to,
            ..
        } = self;
        format!("{function}: {access} {from} → {to}")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.file, self.in_file())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of;

    const TEXT: &str = "\
fn f() {
    // ORDERING: Acquire, Release: both halves. By argument: loom cannot
    // show a stale read here.
    x.swap(1, Ordering::AcqRel); // not Ordering::Acquire
    // ORDERING: Release: publishes y.
    fence(Ordering::SeqCst);
    y.load(Ordering::Relaxed);
}
#[cfg(test)]
mod tests { fn f() { y.load(Ordering::Acquire); } }
";

    #[test]
    fn each_ordering_is_weakened_by_one_step() {
        let mutants = of(Path::new("crates/deque/src/top.rs"), TEXT);
        let names: Vec<_> = mutants.iter().map(ToString::to_string).collect();
        let expected = [
            "crates/deque/src/top.rs:4 f: swap AcqRel → Acquire",
            "crates/deque/src/top.rs:4 f: swap AcqRel → Release",
            "crates/deque/src/top.rs:6 f: fence SeqCst → AcqRel",
            "crates/deque/src/top.rs:6 f: fence SeqCst → no fence",
        ];
        assert_eq!(names, expected);
        let reason = "By argument: loom cannot show a stale read here";
        assert_eq!(mutants[0].reason.as_deref(), Some(reason));
        assert_eq!(mutants[2].reason, None);
        let swapped = mutants[0].apply(TEXT);
        assert!(swapped.contains("x.swap(1, Ordering::Acquire); //"));
        assert!(mutants[2].apply(TEXT).contains("fence(Ordering::AcqRel);"));
        assert!(!mutants[3].apply(TEXT).contains("fence"));
    }
}
