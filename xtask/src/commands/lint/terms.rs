//! Words that a reader cannot know: what is coined is in the glossary, and linked where it is met.
//!
//! Two checks. The name of a public type in the upper crates consists of words that any Rust
//! developer knows, which are listed here, and of words of the glossary: a new name is made of old
//! words, or it is defined. And on a page of docs, the first mention of a coined type's name is a
//! link to its entry.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::support::code::without_comments;
use crate::support::error::Result;
use crate::support::process::{files_below, root};

const GLOSSARY: &str = "docs/glossary.md";

/// The glossary's second table: the words of this project.
const COINED: &str = "## Words of this project";

/// Where the public names are many. The primitives' are the field's.
const CRATES: &[&str] = &[
    "crates/processors/src",
    "crates/scheduler/src",
    "crates/actors/src",
    "crates/timers/src",
    "crates/testing/src",
];

/// The words of names that need no entry.
const ORDINARY: &[&str] = &[
    "abandoned",
    "after",
    "alarm",
    "answer",
    "awaited",
    "blocking",
    "bound",
    "bounded",
    "box",
    "build",
    "builder",
    "call",
    "called",
    "cell",
    "clock",
    "closed",
    "completed",
    "config",
    "connect",
    "context",
    "control",
    "count",
    "counter",
    "cycle",
    "detail",
    "down",
    "dump",
    "dynamic",
    "ended",
    "error",
    "execute",
    "exit",
    "exited",
    "exploration",
    "ext",
    "failure",
    "fake",
    "free",
    "from",
    "guard",
    "handle",
    "handler",
    "hook",
    "id",
    "info",
    "init",
    "inline",
    "inside",
    "interrupted",
    "join",
    "key",
    "kind",
    "length",
    "life",
    "limit",
    "link",
    "list",
    "long",
    "monitor",
    "name",
    "never",
    "new",
    "no",
    "node",
    "not",
    "noted",
    "open",
    "options",
    "output",
    "owner",
    "payload",
    "period",
    "placement",
    "pool",
    "process",
    "processors",
    "promised",
    "protocol",
    "queue",
    "quiescent",
    "reason",
    "receiver",
    "refusal",
    "refused",
    "register",
    "registry",
    "reply",
    "report",
    "reserve",
    "resize",
    "resolver",
    "retained",
    "runner",
    "running",
    "scheduler",
    "seed",
    "send",
    "shutdown",
    "sleep",
    "snapshot",
    "spawn",
    "start",
    "started",
    "stats",
    "status",
    "step",
    "submission",
    "submit",
    "such",
    "system",
    "table",
    "test",
    "thread",
    "ticks",
    "timer",
    "type",
    "undelivered",
    "unknown",
    "upgrade",
    "verdict",
    "version",
    "wait",
    "waker",
    "weak",
    "why",
    "work",
    "wrong",
    "zero",
];

/// The glossary.
struct Glossary {
    /// The words of all terms, in lower case.
    words: BTreeSet<String>,
    /// The coined names of types.
    types: Vec<String>,
}

impl Glossary {
    fn read() -> Result<Self> {
        Ok(Self::parse(&fs::read_to_string(root().join(GLOSSARY))?))
    }

    fn parse(text: &str) -> Self {
        let mut words = BTreeSet::new();
        let mut types = Vec::new();
        let mut is_coined = false;
        for line in text.lines() {
            is_coined |= line == COINED;
            let cells = line.strip_prefix('|').and_then(|row| row.split_once('|'));
            let Some((terms, _)) = cells else {
                continue;
            };
            for term in terms.split(['(', ')', ',', ' ', '/', '`']) {
                words.extend(words_of(term));
                words.insert(term.to_lowercase());
                let inside = term.chars().skip(1).any(char::is_lowercase);
                if is_coined && inside && term.starts_with(char::is_uppercase) {
                    types.push(term.to_owned());
                }
            }
        }
        Self { words, types }
    }

    fn has(&self, word: &str) -> bool {
        let singular = word.strip_suffix('s').unwrap_or(word);
        [word, singular]
            .iter()
            .any(|form| self.words.contains(*form) || ORDINARY.contains(form))
    }
}

/// The words of a name, in lower case: `bound`, `thread` of `BoundThread`.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in name.chars() {
        if character.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Everything that is wrong with names and pages.
pub(super) fn check() -> Result<Vec<Finding>> {
    let glossary = Glossary::read()?;
    let mut findings = Vec::new();
    let crates = CRATES
        .iter()
        .copied()
        .filter(|folder| root().join(folder).exists());
    for file in files_below(root(), &crates.collect::<Vec<_>>(), "rs")? {
        let text = fs::read_to_string(root().join(&file))?;
        findings.extend(check_names(&glossary, &file, &text));
    }
    for entry in fs::read_dir(root().join("docs"))? {
        let file = Path::new("docs").join(entry?.file_name());
        if file.extension().is_some_and(|extension| extension == "md")
            && file != Path::new(GLOSSARY)
        {
            let text = fs::read_to_string(root().join(&file))?;
            findings.extend(check_page(&glossary, &file, &text));
        }
    }
    Ok(findings)
}

fn check_names(glossary: &Glossary, file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in without_comments(text).lines().enumerate() {
        let Some(name) = public_type(line) else {
            continue;
        };
        let unknown: Vec<_> = words_of(name)
            .into_iter()
            .filter(|word| !glossary.has(word))
            .collect();
        if !unknown.is_empty() {
            findings.push(Finding {
                file: file.to_owned(),
                line: index + 1,
                message: format!(
                    "`{name}`: define {unknown:?} in {GLOSSARY}, or take a word that is known"
                ),
            });
        }
    }
    findings
}

/// The type that a line declares.
fn public_type(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix("pub ")?;
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let (kind, rest) = item.split_once(' ')?;
    let is_type = matches!(kind, "struct" | "enum" | "union" | "trait");
    let name = rest
        .split(|character: char| !character.is_alphanumeric())
        .next();
    name.filter(|name| is_type && !name.is_empty())
}

fn check_page(glossary: &Glossary, file: &Path, text: &str) -> Vec<Finding> {
    let prose = prose(text);
    let mut findings = Vec::new();
    for name in &glossary.types {
        let Some(at) = first_mention(&prose, name) else {
            continue;
        };
        let behind = prose[at + name.len()..].trim_start_matches('`');
        if !(behind.starts_with("](") && link_target(behind).contains("glossary.md#")) {
            findings.push(Finding {
                file: PathBuf::from(file),
                line: prose[..at].lines().count().max(1),
                message: format!("`{name}` is coined: link its first mention to {GLOSSARY}"),
            });
        }
    }
    findings
}

fn link_target(text: &str) -> &str {
    text.split(')').next().unwrap_or_default()
}

fn first_mention(text: &str, name: &str) -> Option<usize> {
    let is_word = |(at, _): &(usize, &str)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let is_part = |character: char| character.is_alphanumeric() || "_:/.-".contains(character);
        !before.is_some_and(is_part) && !after.is_some_and(|after| is_part(after) && after != '.')
    };
    text.match_indices(name).find(is_word).map(|(at, _)| at)
}

/// The page with its headings and its blocks of code blanked, line by line.
fn prose(text: &str) -> String {
    let mut in_fence = false;
    let mut prose = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        if !in_fence && !is_fence && !line.starts_with('#') {
            prose.push_str(line);
        }
        prose.push('\n');
    }
    prose
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Glossary, check_names, check_page, words_of};

    const GLOSSARY: &str = "\
# Glossary
| term | meaning |
|---|---|
| slot | A place. |
## Words of this project
| term | meaning |
|---|---|
| bump | To raise. |
| Permit, PermitCell | <a id=\"permit\"></a>The right to run. |
";

    fn messages(findings: Vec<super::Finding>) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(words_of("BoundThread"), ["bound", "thread"]);
        assert_eq!(words_of("permit"), ["permit"]);
    }

    #[test]
    fn names_of_known_words_pass_and_others_are_found() {
        let glossary = Glossary::parse(GLOSSARY);
        let names = |text| messages(check_names(&glossary, Path::new("a.rs"), text));
        let known = "pub struct PermitError;\npub enum Slots {}\n/// pub struct Vigil;\n";
        assert_eq!(names(known), [""; 0]);
        let found =
            names("struct Vigil;\npub(crate) struct Vigil;\n    pub unsafe trait VigilError {\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:3: `VigilError`: define [\"vigil\"]"));
    }

    #[test]
    fn the_first_mention_of_a_coined_type_is_a_link() {
        let glossary = Glossary::parse(GLOSSARY);
        let page = |text| messages(check_page(&glossary, Path::new("docs/a.md"), text));
        let linked = "# Permit\nA [`Permit`](glossary.md#permit) is kept.\nThe `Permit` ends.\n";
        assert_eq!(page(linked), [""; 0]);
        assert_eq!(
            page("```\nPermit\n```\nSee permit.rs, PermitOf.\n"),
            [""; 0]
        );
        let found = page("One.\n\nA `Permit` and a [Permit](glossary.md#permit).\n");
        assert_eq!(
            found,
            ["docs/a.md:3: `Permit` is coined: link its first mention to docs/glossary.md"]
        );
    }
}
