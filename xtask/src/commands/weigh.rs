//! `cargo xtask weigh`: how many lines each room has, and the most that it may have.
//!
//! `src` counts the lines of sources, with comments and blank ones; unit tests are left out, from
//! a file's first `#[cfg(test)]` on, and so are files that are named `tests.rs` or stand below a
//! `tests`. `code` is the same without comments and blank lines. `all` is every line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::support::error::Result;
use crate::support::process::{fresh_folder, git, root, target_directory, untar};
use crate::support::table::Table;
use crate::support::tally::Tally;

/// The most lines of the repository, and of each package's sources.
const BUDGETS: &str = "xtask/budgets.toml";

const REPOSITORY: &str = "the repository";

#[derive(Args)]
pub(crate) struct Options {
    /// Show what each room had in that commit, too.
    #[arg(long, value_name = "COMMIT")]
    against: Option<String>,

    /// Make what each room has the most that it may have.
    #[arg(long)]
    write: bool,
}

/// Lines of one room.
#[derive(Debug, Default, PartialEq)]
struct Weight {
    src: usize,
    code: usize,
    all: usize,
}

/// Weights by room.
type Rooms = BTreeMap<String, Weight>;

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let rooms = weigh(root(), &git(&["ls-files"])?);
    let before = options
        .against
        .as_deref()
        .map_or(Ok(Rooms::new()), weigh_commit)?;
    if options.write {
        let lines = rooms.iter().filter(|(room, _)| is_bounded(room));
        let lines: BTreeMap<_, _> = lines
            .map(|(room, weight)| (room, weight.of(room)))
            .collect();
        let head = "# The most lines of each room: `cargo xtask weigh --write` makes this.\n";
        fs::write(
            root().join(BUDGETS),
            head.to_owned() + &toml::to_string(&lines)?,
        )?;
    }
    let budgets = budgets()?;
    let mut table = Table::new(["room", ">src", ">code", ">all", ">at most", ">before"]);
    for (room, weight) in &rooms {
        let [src, code, all] = [weight.src, weight.code, weight.all].map(|lines| lines.to_string());
        let budget = budgets.get(room).map_or(String::new(), usize::to_string);
        let before = before
            .get(room)
            .map_or(String::new(), |weight| weight.of(room).to_string());
        table.row([room.clone(), src, code, all, budget, before]);
    }
    print!("{table}");
    Ok(report(&rooms, &budgets).exit_code())
}

/// Compares the tree as it is with the budgets; each room is one check.
pub(crate) fn check() -> Result<Tally> {
    Ok(report(&weigh(root(), &git(&["ls-files"])?), &budgets()?))
}

fn budgets() -> Result<BTreeMap<String, usize>> {
    Ok(toml::from_str(&fs::read_to_string(root().join(BUDGETS))?)?)
}

fn report(rooms: &Rooms, budgets: &BTreeMap<String, usize>) -> Tally {
    let mut tally = Tally::default();
    for (room, weight) in rooms.iter().filter(|(room, _)| is_bounded(room)) {
        let (lines, most) = (weight.of(room), budgets.get(room).copied().unwrap_or(0));
        if lines > most {
            println!("error: {room} has {lines} lines, at most {most} in {BUDGETS}");
        }
        tally += Tally::of(lines <= most);
    }
    tally
}

/// Whether a room has a budget of its own.
fn is_bounded(room: &str) -> bool {
    room == REPOSITORY || room.ends_with("/src") && !room.contains('*')
}

fn weigh_commit(commit: &str) -> Result<Rooms> {
    let (folder, archive) = (target_directory("weigh"), target_directory("weigh.tar"));
    fresh_folder(&folder)?;
    git(&["archive", "--output", &archive.to_string_lossy(), commit])?;
    untar(&archive, &folder)?;
    Ok(weigh(
        &folder,
        &git(&["ls-tree", "-r", "--name-only", commit])?,
    ))
}

/// The rooms of the tree in `folder`, whose files are `listed`. One that was deleted, and the
/// deletion is not committed, weighs nothing.
fn weigh(folder: &Path, listed: &str) -> Rooms {
    let mut rooms = Rooms::new();
    for file in listed.lines().filter(|file| file.ends_with(".rs")) {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        for room in rooms_of(file) {
            rooms.entry(room).or_default().add(file, &text);
        }
    }
    rooms
}

/// The rooms that a file is in.
fn rooms_of(file: &str) -> Vec<String> {
    let parts: Vec<_> = file.split('/').collect();
    let mut rooms = vec![REPOSITORY.to_owned(), parts[0].to_owned()];
    match parts[..] {
        ["crates", package, "src", ..] => {
            rooms.extend(["crates/*/src".to_owned(), format!("crates/{package}/src")]);
        }
        [folder @ ("apps" | "compat"), package, "src", ..] => {
            rooms.push(format!("{folder}/{package}/src"));
        }
        ["xtask", "src", ..] => rooms.push("xtask/src".to_owned()),
        _ => {}
    }
    rooms
}

impl Weight {
    fn add(&mut self, file: &str, text: &str) {
        self.all += text.lines().count();
        if !file
            .split('/')
            .any(|part| matches!(part, "tests" | "tests.rs"))
        {
            let shipped = || {
                text.lines()
                    .take_while(|line| !line.starts_with("#[cfg(test)]"))
            };
            let is_code =
                |line: &&str| !matches!(line.trim(), "") && !line.trim().starts_with("//");
            self.src += shipped().count();
            self.code += shipped().filter(is_code).count();
        }
    }

    /// What counts of a room: its sources, or all of it.
    fn of(&self, room: &str) -> usize {
        if room.ends_with("/src") {
            self.src
        } else {
            self.all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Weight, rooms_of};

    #[test]
    fn tests_comments_and_blank_lines_are_told_from_code() {
        let text = "//! A.\n\nuse b;\n    // C.\n#[cfg(test)]\nmod tests {}\n";
        let mut weight = Weight::default();
        for file in [
            "crates/a/src/b.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/tests/c.rs",
        ] {
            weight.add(file, text);
        }
        assert_eq!(
            weight,
            Weight {
                src: 4,
                code: 1,
                all: 18
            }
        );
    }

    #[test]
    fn a_file_is_in_its_package_its_folder_and_the_repository() {
        let rooms = rooms_of("crates/a/src/b/c.rs");
        assert_eq!(
            rooms,
            ["the repository", "crates", "crates/*/src", "crates/a/src"]
        );
        assert_eq!(
            rooms_of("tests/soak/src/main.rs"),
            ["the repository", "tests"]
        );
    }
}
