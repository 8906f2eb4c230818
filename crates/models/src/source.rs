//! Names for what an execution did, read from the sources: a step knows its line alone.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::panic::Location;
use std::path::Path;

/// The lines of the files that were read.
#[derive(Default)]
pub(crate) struct Sources(BTreeMap<String, Vec<String>>);

/// Types of which each value is a word.
const WORDS: [&str; 4] = ["Atomic", "UnsafeCell<", "Mutex<", "Condvar"];

impl Sources {
    fn lines(&mut self, file: &str) -> &[String] {
        self.0.entry(file.to_owned()).or_insert_with(|| {
            // Named from the workspace's root; a test runs in its package, somewhere below.
            let here = env::current_dir().unwrap_or_default();
            let read = |folder: &Path| fs::read_to_string(folder.join(file)).ok();
            let text = here.ancestors().find_map(read).unwrap_or_default();
            text.lines().map(|line| line.trim().to_owned()).collect()
        })
    }

    /// The field or variable whose word number `nth` is made there, else the place.
    pub(crate) fn word(&mut self, place: &Location<'_>, nth: usize) -> String {
        let lines = self.lines(place.file());
        let (before, after) = lines.split_at(lines.len().min(place.line() as usize));
        let is_derived = |line: &String| line.starts_with("#[derive");
        if before.last().is_some_and(is_derived) {
            let fields = after.iter().take_while(|line| *line != "}");
            let fields = fields.filter(|line| WORDS.iter().any(|word| line.contains(word)));
            let fields: Vec<_> = fields.filter_map(|line| assigned(line)).collect();
            if !fields.is_empty() {
                return fields[nth % fields.len()].to_owned();
            }
        }
        let mut expression = before.iter().rev().take_while(|line| !line.contains("fn "));
        match expression.find_map(|line| assigned(line)) {
            Some(name) => name.to_owned(),
            None => short(place),
        }
    }

    /// The function that a place is in.
    pub(crate) fn function(&mut self, place: &Location<'_>) -> String {
        let lines = self.lines(place.file()).iter().take(place.line() as usize);
        let code = lines.rev().filter(|line| !line.starts_with("//"));
        let mut heads = code.filter_map(|line| line.split_once("fn "));
        let head = heads.find(|(before, _)| before.is_empty() || before.ends_with(' '));
        head.map_or_else(|| short(place), |(_, rest)| identifier(rest).to_owned())
    }

    /// The author's words about a bug: those above its variant, or above the call.
    pub(crate) fn story(&mut self, place: &Location<'_>, bug: &str) -> String {
        let lines = self.lines(place.file());
        let is_variant = |line: &String| identifier(line) == bug && line.ends_with([',', '{']);
        let variant = lines.iter().position(is_variant);
        let above = &lines[..variant.unwrap_or(place.line() as usize - 1)];
        let is_note = |line: &String| line.starts_with("//") && !line.contains("SAFETY");
        let end = above.iter().rposition(is_note).map_or(0, |last| last + 1);
        let code = above[..end].iter().rposition(|line| !is_note(line));
        let note = above[code.map_or(0, |code| code + 1)..end].iter();
        let words = note.map(|line| line.trim_start_matches(['/', ' ']));
        words.collect::<Vec<_>>().join("\n")
    }
}

fn identifier(text: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut parts = text.split(|letter| !is_part(letter));
    parts.next().unwrap_or_default()
}

/// The name before the colon of a field, or before the `=` of a variable.
fn assigned(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ").trim_start_matches("let ");
    let line = line.trim_start_matches("mut ");
    let name = identifier(line);
    let rest = line[name.len()..].trim_start();
    let is_assigned = rest.starts_with(": ") || rest.starts_with("= ");
    (is_assigned && !name.is_empty()).then_some(name)
}

/// A file's name, and the line.
pub(crate) fn short(place: &Location<'_>) -> String {
    let file = place.file().rsplit('/').next().unwrap_or_default();
    format!("{file}:{}", place.line())
}
