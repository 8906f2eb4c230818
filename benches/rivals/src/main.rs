//! Comparisons of filch with its rivals, interleaved in one process: `cargo xtask bench`.
//!
//! A group holds scenarios, a scenario holds contenders that do the same work. docs/performance.md
//! says how to read the figures, and what a published one must name.

mod alone;
mod clock;
mod floor;
mod groups;
mod harness;
mod machine;
mod memory;
mod outside;
mod pools;
mod processor_time;
mod total;
mod work;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use filch_report::run::{self, Run};
use filch_report::{Folder, Reasons, tables};

use harness::{Effort, Scenario};

/// The options of the program around this one.
const MORE: &str = "\
cargo xtask bench takes these as well:
  --compare BEFORE AFTER  Two stored runs, row by row: what changed beyond noise is on top
  --tables [FOLDER]       Makes the tables of docs/performance.md and the chart of README.md from a
                          stored run
  --carry FILE            Builds this program so that it can be carried to another machine
  --hello                 What a program pays for a scheduler: time of a build, and size";

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

    /// Curves over the number of workers instead: 1,2,4,8,16, say. Scenarios that do not depend on
    /// such a number are left out.
    #[arg(long, value_delimiter = ',', value_name = "COUNT,…")]
    workers: Vec<usize>,

    /// The same for each number up to 8 and 16, 32, … workers, up to the cores that there are.
    #[arg(long, conflicts_with = "workers")]
    curve: bool,

    /// Rounds that are measured; one more is discarded.
    #[arg(long)]
    rounds: Option<usize>,

    /// Seed of the order in which the contenders take their turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Writes the results here as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Stores each group in this folder, as JSON, when it is measured, and makes its
    /// README.md again: benches/results/DATE-MACHINE. Other groups may follow, of the same commit
    /// on the same machine.
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
    let stored = arguments.report.as_ref();
    let stored = stored.map(|path| Folder::open(path, &all.machine, all.effort));
    let stored = stored.transpose()?;
    // Compiled in: the program may run where there is no repository.
    let reasons = Reasons::parse(include_str!("../../reasons.toml"))?;
    let mut complaints = Vec::new();
    for (group, scenarios) in groups::ALL {
        if !arguments.group.is_empty() && !arguments.group.iter().any(|asked| asked == group) {
            continue;
        }
        let mut of_group = Run {
            results: Vec::new(),
            ..all.clone()
        };
        let mut measure = |mut scenario: Scenario| {
            scenario.keep(&arguments.contender);
            if scenario.name().contains(&arguments.scenario) && !scenario.contenders().is_empty() {
                let measured = scenario.measure(group, effort.rounds, arguments.seed);
                println!("{}", tables::of(&[&measured]));
                of_group.results.push(measured);
            }
        };
        match workers::counts(arguments.curve, &arguments.workers) {
            counts if counts.is_empty() => {
                let all = scenarios(effort).into_iter();
                all.map(Scenario::on_no_curve).for_each(&mut measure);
            }
            counts => {
                for count in counts {
                    workers::ask_for(count);
                    let all = scenarios(effort).into_iter();
                    all.filter(|scenario| scenario.has_workers(count))
                        .for_each(&mut measure);
                }
            }
        }
        print!("{}", tables::curves(&of_group, group));
        if let Some(stored) = &stored {
            complaints = stored.store(&of_group, &reasons)?;
        }
        all.results.extend(of_group.results);
    }
    for complaint in complaints {
        println!("benches/reasons.toml: {complaint}");
    }
    if all.results.is_empty() {
        return Err("no scenario was selected".to_owned());
    }
    let json = arguments.json.as_ref();
    json.map_or(Ok(()), |path| all.write(path))
}
