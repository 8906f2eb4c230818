//! `cargo xtask weigh`: the lines that each room has, and the most that it may have.
//!
//! `src` counts the lines of sources, with comments and blank ones; unit tests are left out, from
//! a file's first `#[cfg(test)]` on, and so are files that are named `tests.rs` or stand below a
//! `tests`. `code` is the same without comments and blank lines. `all` is every line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::support::code::is_for_tests;
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

/// `src`, `code` and `all` of each room.
type Rooms = BTreeMap<String, [usize; 3]>;

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let rooms = weigh(root(), &git(&["ls-files"])?);
    if options.write {
        let mut budgets = "# Made by `cargo xtask weigh --write`.\n".to_owned();
        for (room, weight) in rooms.iter().filter(|(room, _)| is_bounded(room)) {
            budgets += &format!("{room:?} = {}\n", weight[counted(room)]);
        }
        fs::write(root().join(BUDGETS), budgets)?;
    }
    let before = options.against.as_deref().map(weigh_commit).transpose()?;
    Ok(report(&rooms, &before.unwrap_or_default())?.exit_code())
}

/// Compares the tree as it is with the budgets; each of these is one check.
pub(crate) fn check() -> Result<Tally> {
    report(&weigh(root(), &git(&["ls-files"])?), &Rooms::new())
}

fn report(rooms: &Rooms, before: &Rooms) -> Result<Tally> {
    let budgets: BTreeMap<String, usize> =
        toml::from_str(&fs::read_to_string(root().join(BUDGETS))?)?;
    let mut tally = Tally::default();
    let mut table = Table::new(["room", ">src", ">code", ">all", ">at most", ">before", ""]);
    for (room, weight) in rooms {
        let most = budgets.get(room).copied().or(is_bounded(room).then_some(0));
        let is_light = most.is_none_or(|most| weight[counted(room)] <= most);
        if most.is_some() {
            tally += Tally::of(is_light);
        }
        let [src, code, all] = weight.map(|lines| lines.to_string());
        let [most, before] = [most, before.get(room).map(|weight| weight[counted(room)])]
            .map(|lines| lines.map_or(String::new(), |lines| lines.to_string()));
        let verdict = if is_light { "" } else { "TOO HEAVY" }.to_owned();
        table.row([room.clone(), src, code, all, most, before, verdict]);
    }
    print!("{table}");
    Ok(tally)
}

fn is_bounded(room: &str) -> bool {
    room == REPOSITORY || counted(room) == 0 && !room.contains('*')
}

/// Picks the weight of a room that counts: its sources, or all of it.
fn counted(room: &str) -> usize {
    if room.ends_with("/src") { 0 } else { 2 }
}

fn weigh_commit(commit: &str) -> Result<Rooms> {
    let (folder, archive) = (target_directory("weigh"), target_directory("weigh.tar"));
    fresh_folder(&folder)?;
    git(&["archive", "--output", &archive.to_string_lossy(), commit])?;
    untar(&archive, &folder)?;
    let listed = git(&["ls-tree", "-r", "--name-only", commit])?;
    Ok(weigh(&folder, &listed))
}

/// The rooms of the tree in `folder`, whose files are `listed`. One that was deleted, and the
/// deletion is not committed, weighs nothing.
fn weigh(folder: &Path, listed: &str) -> Rooms {
    let mut rooms = Rooms::new();
    for file in listed.lines().filter(|file| file.ends_with(".rs")) {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let own = weight(file, &text);
        for room in rooms_of(file) {
            let sum = rooms.entry(room).or_default();
            *sum = [0, 1, 2].map(|measure| sum[measure] + own[measure]);
        }
    }
    rooms
}

/// The repository, the folder at its root, and the sources of a package.
fn rooms_of(file: &str) -> Vec<String> {
    let folder = file.split('/').next().unwrap_or_default();
    let mut rooms = vec![REPOSITORY.to_owned(), folder.to_owned()];
    if let Some((package, _)) = file.split_once("/src/").filter(|_| folder != "tests") {
        rooms.push(format!("{package}/src"));
        rooms.extend((folder == "crates").then(|| "crates/*/src".to_owned()));
    }
    rooms
}

fn weight(file: &str, text: &str) -> [usize; 3] {
    let is_test = is_for_tests(Path::new(file));
    let lines = text
        .lines()
        .take_while(|line| !is_test && !line.starts_with("#[cfg(test)]"));
    let shipped: Vec<_> = lines.map(str::trim_start).collect();
    let is_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
    let code = shipped.iter().filter(is_code).count();
    [shipped.len(), code, text.lines().count()]
}

#[cfg(test)]
mod tests {
    use super::{rooms_of, weight};

    #[test]
    fn tests_comments_and_blank_lines_are_told_from_code() {
        let text = "//! A.\n\nuse b;\n    // C.\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(weight("crates/a/src/b.rs", text), [4, 1, 6]);
        assert_eq!(weight("crates/a/src/b/tests.rs", text), [0, 0, 6]);
    }

    #[test]
    fn a_file_is_in_its_package_its_folder_and_the_repository() {
        let found = rooms_of("crates/a/src/b/c.rs").join(", ");
        assert_eq!(found, "the repository, crates, crates/a/src, crates/*/src");
    }
}
