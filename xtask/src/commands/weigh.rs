//! `cargo xtask weigh`: the lines that each room has, and the most that it may have.
//!
//! A room is the sources of a package, with comments and blank lines; unit tests are left out, from
//! a file's first `#[cfg(test)]` on, and so are files that are named `tests.rs` or stand below a
//! `tests`. Of the repository, every line counts. Of its pages, the words count that are written by
//! hand: neither code nor what a program made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::commands::docs::MADE;
use crate::support::Result;
use crate::support::code::is_for_tests;
use crate::support::process::{git, root};
use crate::support::table::Table;
use crate::support::tally::Tally;

/// The most lines of each room.
const BUDGETS: &str = "xtask/budgets.toml";

#[derive(Args)]
pub(crate) struct Options {
    /// Show what each room had in that commit, too.
    #[arg(long, value_name = "COMMIT")]
    against: Option<String>,

    /// Make what each room has the most that it may have.
    #[arg(long)]
    write: bool,
}

/// The lines of each room.
type Rooms = BTreeMap<String, usize>;

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if options.write {
        let budgets = toml::to_string(&weigh()?)?;
        let head = "# Made by `cargo xtask weigh --write`.\n";
        fs::write(root().join(BUDGETS), head.to_owned() + &budgets)?;
    }
    let mut before = Rooms::new();
    if let Some(commit) = &options.against {
        let listed = git(&["ls-tree", "-r", "--name-only", commit])?;
        before = rooms(&listed, |file| {
            git(&["show", &format!("{commit}:{file}")]).unwrap_or_default()
        });
    }
    Ok(report(&before)?.exit_code())
}

/// Compares the tree as it is with the budgets; each of these is one check.
pub(crate) fn report(before: &Rooms) -> Result<Tally> {
    let budgets: Rooms = toml::from_str(&fs::read_to_string(root().join(BUDGETS))?)?;
    let mut tally = Tally::default();
    let mut table = Table::new(&["room", ">lines", ">at most", ">before", ""]);
    for (room, lines) in weigh()? {
        let most = budgets.get(&room).copied().unwrap_or_default();
        tally += Tally::of(lines <= most);
        let verdict = if lines <= most { "" } else { "TOO HEAVY" };
        let before = before.get(&room).map_or(String::new(), usize::to_string);
        let [lines, most] = [lines, most].map(|lines| lines.to_string());
        table.row([room, lines, most, before, verdict.to_owned()]);
    }
    print!("{table}");
    Ok(tally)
}

/// The rooms of the tree as it is. A file that was deleted, and the deletion is not committed,
/// weighs nothing.
fn weigh() -> Result<Rooms> {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap_or_default();
    Ok(rooms(&git(&["ls-files"])?, read))
}

fn rooms(listed: &str, read: impl Fn(&str) -> String) -> Rooms {
    let mut rooms = Rooms::new();
    for file in listed.lines() {
        if file.ends_with(".md") {
            *rooms.entry("the pages, words".to_owned()).or_default() += words(&read(file));
        }
        if !file.ends_with(".rs") {
            continue;
        }
        let text = read(file);
        *rooms.entry("the repository".to_owned()).or_default() += text.lines().count();
        let package = file.split_once("/src/").map(|(package, _)| package);
        if let Some(package) = package.filter(|_| !file.starts_with("tests/")) {
            let is_shipped = |line: &&str| !line.starts_with("#[cfg(test)]");
            let lines = text.lines().take_while(is_shipped).count();
            let is_test = is_for_tests(Path::new(file));
            *rooms.entry(format!("{package}/src")).or_default() += if is_test { 0 } else { lines };
        }
    }
    rooms
}

/// The words of a page that somebody wrote: no code, no page that a program made, and nothing
/// between `<!-- table: … -->` and `<!-- end … -->`.
pub(crate) fn words(page: &str) -> usize {
    if page.contains(MADE) {
        return 0;
    }
    let (mut words, mut in_fence, mut is_made) = (0, false, false);
    for line in page.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        is_made = (is_made || line.starts_with("<!-- table: ")) && !line.starts_with("<!-- end");
        if !in_fence && !is_made && !line.starts_with("<!--") {
            words += line.split_whitespace().count();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{rooms, words};

    #[test]
    fn words_are_those_that_somebody_wrote() {
        let page = "# Two words\n\n```rust\nlet code = 1;\n```\n<!-- table: x -->\n\n\
                    | a | b |\n<!-- end of table -->\nThree more words\n";
        assert_eq!(words(page), 7);
        assert_eq!(words("One <!-- Made by `cargo xtask docs` -->\n"), 0);
    }

    #[test]
    fn a_file_is_in_its_package_and_the_repository() {
        let text = "//! A.\n\nuse b;\n    // C.\n#[cfg(test)]\nmod tests {}\n";
        let listed = "crates/a/src/b/c.rs\ncrates/a/src/b/tests.rs\ntests/a/src/b.rs\n";
        let rooms = rooms(listed, |_| text.to_owned());
        let rooms = rooms.iter().map(|(name, lines)| format!("{name} {lines}"));
        assert!(rooms.eq(["crates/a/src 4", "the repository 18"]));
    }
}
