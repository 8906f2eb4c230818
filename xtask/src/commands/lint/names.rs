//! The names in pages and comments: one with an underscore, a path and a file of Rust are in the
//! code, or they have drifted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::process::root;

/// The page about what is gone.
const PAST: &str = "CHANGELOG.md";

/// Names of others that we cite, in these words.
const FOREIGN: &str = "xtask/foreign.txt";

/// The names of the code.
#[derive(Default)]
pub(super) struct Names {
    files: Vec<PathBuf>,
    /// The words of each file's code and path, with the numbers of the files that have them.
    words: BTreeMap<String, BTreeSet<usize>>,
    foreign: BTreeSet<String>,
}

impl Names {
    /// Reads those of all files but pages, figures and lists of others' names.
    pub(super) fn read(files: &[PathBuf]) -> Self {
        let mut names = Self::default();
        for file in files {
            // One that is no text has no names.
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            if file == FOREIGN {
                names.foreign = text.split_whitespace().map(str::to_owned).collect();
            }
            let is_of = |extension: &&str| file.extension().is_some_and(|own| own == *extension);
            let is_code = !["md", "json", "lock", "txt"].iter().any(is_of);
            names.add(file, if is_code { &text } else { "" });
        }
        names
    }

    fn add(&mut self, file: &Path, code: &str) {
        let path = file.to_string_lossy();
        let code = code.lines().filter_map(|line| line.split("//").next());
        for word in code.chain([&*path]).flat_map(words) {
            let files = self.words.entry(word.to_owned()).or_default();
            files.insert(self.files.len());
        }
        self.files.push(file.to_owned());
    }

    /// Finds the lines of a file, counted from 1, with names whose words are together in no file.
    pub(super) fn check(&self, file: &Path, text: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let is_past = file == PAST;
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        // True if the line before ends inside of a pair of marks.
        let mut is_inside = false;
        for (index, line) in text.lines().enumerate().filter(|_| !is_past) {
            let prose = line.trim_start().trim_start_matches(['/', '!', '#', ' ']);
            is_inside &= !prose.is_empty();
            // What follows the last mark may go on in the next line, and is no name.
            let (marked, _) = line.rsplit_once('`').unwrap_or_default();
            let first = 1 + usize::from(is_inside);
            let cited = marked.split('`').skip(first).step_by(2);
            let ours = cited.filter(|name| is_name(name) || is_page && is_path(name));
            for name in ours.filter(|name| !self.has(name)) {
                found.push((index + 1, format!("`{name}` is nowhere in the code")));
            }
            is_inside ^= line.matches('`').count() % 2 == 1 && !prose.starts_with("```");
        }
        found
    }

    fn has(&self, name: &str) -> bool {
        if self.foreign.contains(name.trim_end_matches("()")) {
            return true;
        }
        if is_path(name) || name.ends_with(".rs") {
            let mut places = self.files.iter().flat_map(|file| file.ancestors());
            return places.any(|place| place.ends_with(name));
        }
        let all: Option<Vec<_>> = words(name).map(|word| self.words.get(word)).collect();
        let all = all.unwrap_or_default();
        let mut files = all.first().into_iter().copied().flatten();
        files.any(|file| all.iter().all(|of| of.contains(file)))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty())
}

/// Tells names from ordinary words: they have an underscore, a path or an ending.
fn is_name(text: &str) -> bool {
    let text = text.trim_end_matches("()");
    let mut letters = text.chars();
    if text.ends_with(".rs") {
        return letters.all(|letter| letter.is_alphanumeric() || "/-._".contains(letter));
    }
    let is_word = letters.all(|letter| letter.is_alphanumeric() || ":_".contains(letter));
    is_word && (text.contains("::") || text.contains('_'))
}

/// Tells the paths of files and folders of ours: no others begin at the root, or stand for many.
fn is_path(text: &str) -> bool {
    let endings = [".rs", ".md", ".toml", ".yml", ".css"];
    let is_placeholder = |part: &str| part.chars().all(|of| of.is_uppercase() || of == '-');
    let mut letters = text.chars();
    letters.all(|letter| letter.is_alphanumeric() || "/-._".contains(letter))
        && !text.starts_with(['/', '.'])
        && (text.contains('/') || endings.iter().any(|end| text.ends_with(end)))
        && !text
            .split('/')
            .any(|part| !part.is_empty() && is_placeholder(part))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Names;

    /// The lines of a page in which a name is nowhere in the code.
    fn lines(page: &str) -> Vec<usize> {
        let mut names = Names::default();
        let code = "impl Top { fn read_it() {} } // fn gone_now() {}";
        names.add(Path::new("crates/deque/src/top.rs"), code);
        let model = Path::new("loom-tests/tests/deque/two_thieves.rs");
        names.add(model, "fn each_has_one() {}");
        let found = names.check(Path::new("a.md"), page);
        found.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn misspelt_names_and_those_in_comments_are_found() {
        let page = "`read_it`, `read_it()`, `a_b < c_d`\n`raed_it`\n`gone_now`\n`--a_b`, a_b\n";
        assert_eq!(lines(page), [2, 3]);
    }

    #[test]
    fn a_pair_of_marks_may_be_on_two_lines() {
        let page = "`cargo\nrun a_b` `raed_it` `a\na_b` `raed_it`\n\na `b\n\n`gone_now`\n";
        assert_eq!(lines(page), [2, 3, 7]);
        let fences = "```rust\na_b\n\n```\n`raed_it`\n";
        assert_eq!(lines(fences), [5]);
    }

    #[test]
    fn names_of_others_are_cited_in_their_words() {
        let mut names = Names::default();
        names.foreign.insert("gen_server::call".to_owned());
        let page = "`gen_server::call`\n`gen_server::cast`\n`gen_server`\n";
        assert_eq!(names.check(Path::new("a.md"), page).len(), 2);
    }

    #[test]
    fn the_words_of_a_path_are_in_one_file() {
        let page = "`Top::read_it`, `deque::two_thieves::each_has_one`, `top.rs`, `src/top.rs`\n\
                    `Top::each_has_one`\n`tests/top.r\u{73}`\n`injector::each_has_one`\n\
                    `deque/src`, `src/`, `/dev`, `results/NAME`\n`deque/top`, `new.toml`";
        assert_eq!(lines(page), [2, 3, 4, 6, 6]);
    }
}
