//! `cargo xtask road`: the source files that an operation executes, in the order in which it first
//! does, and with how many instructions.
//!
//! The operations are those of `benches/operations`; a comment there says where a road begins.

mod walk;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::support::Result;
use crate::support::process::{cargo, root, runs};
use crate::support::programs;
use crate::support::tally::Tally;

use walk::Walked;

const PAGE: &str = "docs/roads.md";

/// An operation may take more instructions than the page says by this share.
const SLACK: f64 = 0.01;

/// The roads, as the comments call them, and the jobs that take them.
const ROADS: &[(&str, &str)] = &[
    ("a hop", "scheduler: hop of a message"),
    ("an event", "event queue: push and receive"),
    ("a fork", "fork-join: join, thread-local"),
    ("an injected task", "processors: injected task"),
    ("a stolen fork", "fork-join: join, stolen by another"),
];

/// The roads on which threads wait for each other: how often they look, and where, is not always
/// the same.
const INEXACT: &[&str] = &["an injected task", "a stolen fork"];

#[derive(Args)]
pub(crate) struct Options {
    /// Make docs/roads.md show the roads as they are.
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if !runs("valgrind", "--version") {
        println!("SKIPPED: there is no valgrind here");
        return Ok(ExitCode::SUCCESS);
    }
    let roads = walk_all(cargo())?;
    print!("{}", sections(&roads));
    if options.write {
        fs::write(root().join(PAGE), page(&roads))?;
    }
    Ok(compare(&roads)?.exit_code())
}

/// Compares the roads, on programs that this cargo builds, with the page.
pub(crate) fn check(cargo: Command) -> Result<Tally> {
    compare(&walk_all(cargo)?)
}

fn walk_all(mut cargo: Command) -> Result<Vec<Walked>> {
    cargo.args(["bench", "--no-run", "--package", "filch-operations"]);
    cargo.args(["--bench", "instructions"]);
    let programs = programs::build(&mut cargo, &["bench"])?;
    let (_, program) = programs.first().ok_or("cargo has built no program")?;
    let walk = |(name, job): &(&'static str, &str)| walk::walk(program, name, job);
    ROADS.iter().map(walk).collect()
}

/// A road is longer than the page says if it has more files, crates or instructions.
fn compare(roads: &[Walked]) -> Result<Tally> {
    let page = fs::read_to_string(root().join(PAGE))?;
    let mut tally = Tally::default();
    for road in roads {
        let known = row(&page, road.name).ok_or_else(|| format!("{PAGE} lacks {}", road.name))?;
        let now = measures(road);
        let more = if INEXACT.contains(&road.name) {
            [2.0, 1.0, f64::MAX]
        } else {
            [0.0, 0.0, known[2] * SLACK]
        };
        let is_longer = (0..3).any(|measure| now[measure] > known[measure] + more[measure]);
        if is_longer {
            println!(
                "error: the road of {} has {now:?} files, crates and instructions; {known:?} in \
                 {PAGE}",
                road.name
            );
        }
        tally += Tally::of(!is_longer);
    }
    Ok(tally)
}

/// Files, crates and instructions.
fn measures(Walked { files, .. }: &Walked) -> [f64; 3] {
    let crates = files.iter().filter_map(|(file, _)| file.split('/').next());
    let crates = crates.collect::<BTreeSet<_>>().len();
    let instructions: f64 = files.iter().map(|(_, count)| count).sum();
    [files.len() as f64, crates as f64, instructions.round()]
}

/// Reads the page's row on a road.
fn row(page: &str, name: &str) -> Option<[f64; 3]> {
    let begin = format!("| {name} |");
    let row = page.lines().find_map(|line| line.strip_prefix(&begin))?;
    let cells = row.split('|').filter_map(|cell| cell.trim().parse().ok());
    cells.collect::<Vec<_>>().try_into().ok()
}

fn page(roads: &[Walked]) -> String {
    let mut page = HEAD.to_owned();
    for road in roads {
        let [files, crates, instructions] = measures(road);
        page += &format!("| {} | {files} | {crates} | {instructions} |\n", road.name);
    }
    page + &sections(roads)
}

fn sections(roads: &[Walked]) -> String {
    let mut text = String::new();
    for road in roads {
        let title = road.name.replacen('a', "A", 1);
        text += &format!("\n## {title}\n\n| file | instructions |\n|---|--:|\n");
        let rows = road.files.iter();
        text.extend(rows.map(|(file, count)| format!("| {file} | {count:.1} |\n")));
    }
    text
}

const HEAD: &str = "\
# Roads

<!-- Made by `cargo xtask road --write` -->

A map for a first reading: the source files in which one operation executes instructions, in the
order in which it first does, on x86-64. CI fails if a road has more files, crates or instructions
than it says here. A file counts if its own lines execute half an instruction per operation or more;
a line that only calls std has none.

- *A hop*: a message to a process that idles on the scheduler's only worker, until that process has
  returned from the step in which it sends the next.
- *An event*: pushed into the queue, and received.
- *A fork*: a join of which nobody steals a branch.
- *An injected task*: from a thread outside, until it runs on a processor that slept.
- *A stolen fork*: a join of which a thread that slept steals a branch, until the join returns.

| road | files | crates | instructions |
|---|--:|--:|--:|
";

#[cfg(test)]
mod tests {
    use super::{Walked, page, row};

    #[test]
    fn a_road_is_read_as_it_was_written() {
        let files = vec![
            ("a/src/b.rs".to_owned(), 2.0),
            ("a/src/c.rs".to_owned(), 0.6),
        ];
        let road = Walked {
            name: "a hop",
            files,
        };
        let page = page(&[road]);
        assert_eq!(row(&page, "a hop"), Some([2.0, 1.0, 3.0]));
        let section = "## A hop\n\n| file | instructions |\n|---|--:|\n| a/src/b.rs | 2.0 |\n";
        assert!(page.contains(section));
    }
}
