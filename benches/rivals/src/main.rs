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

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use filch_report::run::{self, Run};
use filch_report::{Folder, tables};
use harness::Effort;

/// The options of the program around this one.
const MORE: &str = "\
cargo xtask bench takes these as well:
  --compare BEFORE AFTER  Two stored runs, row by row: what changed beyond noise is on top
  --tables [FOLDER]       Makes the tables of docs/performance.md and the chart of README.md from a
                          stored run
  --carry FILE            Builds this program so that it can be carried to another machine";

#[derive(Parser)]
#[command(bin_name = "cargo xtask bench", about, version, after_help = MORE)]
struct Arguments {
    /// Fewer and shorter rounds: to see that it works, not to compare. With `--rounds 15` shorter
    /// ones only, which scatter more, but compare.
    #[arg(long)]
    quick: bool,

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

    /// Rounds that are measured; one more is discarded.
    #[arg(long)]
    rounds: Option<usize>,

    /// Seed of the order in which the contenders take their turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Writes the results here as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Stores each group in this folder, as JSON, when it is measured:
    /// benches/results/DATE-MACHINE. Other groups may follow, of the same commit on the same
    /// machine.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scenario", "contender"])]
    report: Option<PathBuf>,
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

fn measure(arguments: &Arguments) -> Result<(), String> {
    let mut effort = match arguments.quick {
        true => Effort::QUICK,
        false => Effort::FULL,
    };
    effort.rounds = arguments.rounds.unwrap_or(effort.rounds).max(1);
    let mut all = Run {
        machine: machine::describe(),
        effort: run::Effort {
            rounds: effort.rounds,
            quick: arguments.quick,
            seed: arguments.seed,
        },
        results: Vec::new(),
    };
    println!("{}", tables::machine(&all));
    work::ask_for(arguments.workers);
    let stored = arguments.report.as_ref();
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
        for mut scenario in scenarios(effort) {
            let is_kept = scenario.keep(&arguments.contender);
            if is_kept && scenario.name().contains(&arguments.scenario) {
                let measured = scenario.measure(group, effort.rounds, arguments.seed);
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
    let json = arguments.json.as_ref();
    json.map_or(Ok(()), |path| all.write(path))
}
