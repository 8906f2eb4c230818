//! Comparisons of filch with its rivals, interleaved in one process: `cargo xtask bench`.
//!
//! A group holds scenarios, a scenario holds contenders that do the same work. docs/performance.md
//! says how to read the figures, and what a published one must name.

mod alone;
mod clock;
mod groups;
mod harness;
mod machine;
mod memory;
mod outside;
mod pools;
mod total;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use filch_report::run::{Effort, Machine, Run};
use filch_report::{Folder, Unfit, published, tables};

/// The options of the program around this one.
const MORE: &str = "\
cargo xtask bench takes these as well:
  --compare BEFORE AFTER  Two stored runs, row by row: what changed beyond noise is on top
  --tables [FOLDER]       Makes the pages of docs and the chart of README.md from a stored run
  --carry FILE            Builds this program so that it can be carried to another machine";

#[derive(Parser)]
#[command(bin_name = "cargo xtask bench", about, version, after_help = MORE)]
struct Arguments {
    /// Only this group; may be repeated.
    #[arg(long, value_parser = PossibleValuesParser::new(groups::ALL.iter().map(|group| group.0)))]
    group: Vec<String>,

    /// Only scenarios whose name contains this.
    #[arg(long, default_value = "", hide_default_value = true)]
    scenario: String,

    /// Only contenders whose name contains this: for a profiler, not to compare.
    #[arg(long, default_value = "", hide_default_value = true)]
    contender: String,

    /// So many workers in each pool, or producers, or thieves and their victim, where a scenario
    /// does not say otherwise.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    workers: usize,

    /// Rounds that are measured; one more is discarded. Fewer than 15 show that it works, and
    /// compare nothing.
    #[arg(long, default_value_t = Effort::ENOUGH_ROUNDS)]
    rounds: usize,

    /// Seed of the order in which the contenders take their turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Writes the results here as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Stores each group in a folder, as JSON, when it is measured: benches/results/DATE-MACHINE,
    /// unless another one is named. Rows that cannot be told from the rival's are measured again.
    /// When no group is missing, the pages and the chart are made from it. Refuses a dirty tree, a
    /// busy machine and few rounds. Other groups of the same commit and machine may follow.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scenario", "contender"])]
    report: Option<Option<PathBuf>>,
}

fn main() -> ExitCode {
    if alone::is_done() {
        return ExitCode::SUCCESS;
    }
    if let Err(error) = measure(&Arguments::parse()) {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Tries, a second each, to find the machine quiet: a build ends shortly before, and the load
/// average takes two minutes to forget it.
const PATIENCE: u32 = 180;

/// The times that a report measures an unknown row again.
const AGAIN: u32 = 1;

/// Describes a machine that is fit for a report.
fn fit() -> Result<Machine, Unfit> {
    for tried in 0.. {
        let machine = machine::describe();
        match machine.check() {
            Err(busy @ Unfit::Busy(_)) if tried < PATIENCE => {
                if tried == 0 {
                    println!("{busy}: waiting");
                }
                thread::sleep(Duration::from_secs(1));
            }
            checked => return checked.map(|()| machine),
        }
    }
    unreachable!("it has no end")
}

fn measure(arguments: &Arguments) -> Result<(), String> {
    let effort = Effort {
        rounds: arguments.rounds.max(1),
        seed: arguments.seed,
    };
    let is_report = arguments.report.is_some();
    if is_report && effort.rounds < Effort::ENOUGH_ROUNDS {
        return Err(format!(
            "a report has {} rounds or more",
            Effort::ENOUGH_ROUNDS
        ));
    }
    let machine = match is_report {
        true => fit().map_err(|unfit| unfit.to_string())?,
        false => machine::describe(),
    };
    let again = if is_report { AGAIN } else { 0 };
    let mut all = Run {
        machine,
        effort,
        results: Vec::new(),
    };
    println!("{}", tables::machine(&all));
    work::ask_for(arguments.workers);
    let path = arguments.report.as_ref().map(|named| match named {
        Some(path) => path.clone(),
        None => machine::results().join(all.machine.folder(arguments.workers)),
    });
    let stored = path.as_ref();
    let stored = stored.map(|path| Folder::open(path, &all.machine, all.effort));
    let stored = stored.transpose()?;
    for (group, scenarios) in groups::ALL {
        if !arguments.group.is_empty() && !arguments.group.iter().any(|asked| asked == group) {
            continue;
        }
        let mut of_group = Run {
            results: Vec::new(),
            ..all.clone()
        };
        for mut scenario in scenarios() {
            let is_kept = scenario.keep(&arguments.contender);
            if is_kept && scenario.name().contains(&arguments.scenario) {
                let (rounds, seed) = (effort.rounds, arguments.seed);
                let measured = scenario.measure_until_known(group, rounds, seed, again);
                println!("{}", tables::of(&[&measured]));
                of_group.results.push(measured);
            }
        }
        if let Some(stored) = &stored {
            stored.store(&of_group)?;
        }
        all.results.extend(of_group.results);
    }
    if all.results.is_empty() {
        return Err("no scenario was selected".to_owned());
    }
    if let Some(json) = &arguments.json {
        all.write(json)?;
    }
    path.map_or(Ok(()), |path| publish(&path))
}

/// Makes the pages from the run, if that can be done here and now, and says how otherwise.
fn publish(path: &Path) -> Result<(), String> {
    let measured = Run::read_all(path)?;
    let groups = measured.groups();
    let is_whole = groups::ALL.iter().all(|(group, _)| groups.contains(group));
    if is_whole && !machine::is_carried() {
        return published::write(Some(path));
    }
    let path = path.display();
    println!("{path}: `cargo xtask bench --tables {path}` in the repository makes the pages");
    Ok(())
}
