//! Finding the orderings of a file, and what each can be weakened to.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::lint::begins_tests;

/// How far above an access its note may begin.
const NOTE_REACHES: usize = 20;

/// One ordering, one step weaker.
pub(super) struct Mutant {
    pub(super) file: PathBuf,
    /// Counted from 0.
    line: usize,
    column: usize,
    from: &'static str,
    /// `None`: the fence is taken out.
    to: Option<&'static str>,
    /// The note above it says what loom cannot show.
    pub(super) is_explained: bool,
}

/// The steps down: an `AcqRel` can lose either half.
const STEPS: &[(&str, &[&str])] = &[
    ("Ordering::SeqCst", &["Ordering::AcqRel"]),
    (
        "Ordering::AcqRel",
        &["Ordering::Acquire", "Ordering::Release"],
    ),
    ("Ordering::Acquire", &["Ordering::Relaxed"]),
    ("Ordering::Release", &["Ordering::Relaxed"]),
];

/// All mutants of a file; its tests are left alone.
pub(super) fn of(file: &Path, text: &str) -> Vec<Mutant> {
    let lines: Vec<_> = text.lines().collect();
    let shipped = lines.iter().take_while(|line| !begins_tests(line));
    let mut mutants = Vec::new();
    for (line, content) in shipped.enumerate() {
        let code = content.split("//").next().unwrap_or_default();
        for &(from, weaker) in STEPS {
            for (column, _) in code.match_indices(from) {
                let mut add = |to| {
                    mutants.push(Mutant {
                        file: file.to_owned(),
                        line,
                        column,
                        from,
                        to,
                        is_explained: note_above(&lines, line).contains("loom cannot"),
                    });
                };
                // A relaxed fence is none, and core refuses to make one.
                if code.contains("fence(") && weaker.contains(&"Ordering::Relaxed") {
                    add(None);
                } else {
                    weaker.iter().for_each(|&to| add(Some(to)));
                }
            }
        }
    }
    mutants
}

/// The comments right above a line, down from the nearest `ORDERING`.
fn note_above(lines: &[&str], line: usize) -> String {
    let first = line.saturating_sub(NOTE_REACHES);
    let above = &lines[first..=line];
    let begin = above.iter().rposition(|line| line.contains("ORDERING"));
    let note = begin.map_or(&[][..], |begin| &above[begin..]);
    let comments = note.iter().filter_map(|line| line.split_once("//"));
    let words: Vec<_> = comments.map(|(_, comment)| comment.trim()).collect();
    words.join(" ")
}

impl Mutant {
    /// `text` with the ordering weakened.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut mutated = String::new();
        for (number, line) in text.lines().enumerate() {
            if number != self.line {
                mutated += line;
            } else if let Some(to) = self.to {
                mutated += &line[..self.column];
                mutated += to;
                mutated += &line[self.column + self.from.len()..];
            }
            mutated.push('\n');
        }
        mutated
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |name: &'static str| name.trim_start_matches("Ordering::");
        write!(
            formatter,
            "{}:{} {} → {}",
            self.file.display(),
            self.line + 1,
            short(self.from),
            self.to.map_or("no fence", short),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of;

    const TEXT: &str = "\
// ORDERING: Acquire, Release: both halves; loom cannot\n\
// show a stale read here.\n\
x.swap(1, Ordering::AcqRel); // not Ordering::Acquire\n\
// ORDERING: Release: publishes y.\n\
fence(Ordering::Release);\n\
y.load(Ordering::Relaxed);\n";

    #[test]
    fn each_ordering_is_weakened_by_one_step() {
        let mutants = of(Path::new("crates/deque/src/top.rs"), TEXT);
        let names: Vec<_> = mutants.iter().map(ToString::to_string).collect();
        let expected = [
            "crates/deque/src/top.rs:3 AcqRel → Acquire",
            "crates/deque/src/top.rs:3 AcqRel → Release",
            "crates/deque/src/top.rs:5 Release → no fence",
        ];
        assert_eq!(names, expected);
        assert!(mutants[0].is_explained && !mutants[2].is_explained);
        assert!(
            mutants[0]
                .apply(TEXT)
                .contains("x.swap(1, Ordering::Acquire); //")
        );
        assert!(!mutants[2].apply(TEXT).contains("fence"));
    }
}
