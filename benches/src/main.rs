//! Comparisons of filch with its rivals, interleaved in one process: `cargo xtask bench`.
//!
//! A group holds scenarios, a scenario holds contenders that do the same work. docs/performance.md
//! says how to read the figures, and what a published one must name.

mod bar;
mod curve;
mod floor;
mod groups;
mod harness;
mod machine;
mod measured;
mod memory;
mod outside;
mod processor_time;
mod report;
mod rivals;
mod total;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use filch_report::run;

use curve::Curves;
use groups::scheduler::{burst, idle};
use groups::{Group, engine, fork_join};
use harness::{Effort, Scenario};
use report::{Report, Stored};

/// Said of a group without curves.
const NO_CURVE: &str = "nothing here depends on a number of workers";

/// What the program around this one does.
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
    #[arg(long)]
    group: Vec<Group>,

    /// Only scenarios whose name contains this.
    #[arg(long)]
    scenario: Option<String>,

    /// Only contenders whose name contains this: for a profiler, not to compare.
    #[arg(long)]
    contender: Option<String>,

    /// Curves over the number of workers instead: 1,2,4,8,16, say. A group without any says so.
    #[arg(long, value_delimiter = ',', value_name = "COUNT,…")]
    workers: Vec<usize>,

    /// The same for each number up to 8 and 16, 32, … workers, up to the cores that there are.
    #[arg(long, conflicts_with = "workers")]
    curve: bool,

    /// How many rounds are measured, one more is discarded.
    #[arg(long)]
    rounds: Option<usize>,

    /// Seed of the order in which the contenders take their turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Prints what is resident for each idle process of that contender, and does nothing else.
    #[arg(long, hide = true, requires = "processes")]
    resident: Option<String>,

    /// Prints the microseconds of a frame of bevy's, and does nothing else: the threads, and how
    /// many frames.
    #[arg(long, hide = true, num_args = 2)]
    bevy: Option<Vec<String>>,

    /// How many processes `--resident` makes.
    #[arg(long, hide = true)]
    processes: Option<u64>,

    /// Prints the figures of a turn of forte's, and does nothing else: the program, its size and
    /// the threads.
    #[arg(long, hide = true, num_args = 3)]
    forte: Option<Vec<String>>,

    /// Prints the KiB that are resident after a burst, and does nothing else: the contender, and
    /// how many processes.
    #[arg(long, hide = true, num_args = 2)]
    burst: Option<Vec<String>>,

    /// How often `--resident` makes them; those before the last ones are gone then.
    #[arg(long, hide = true, default_value_t = 1)]
    waves: u64,

    /// Prints by how much a pool raises the peak of the memory that is resident, and does nothing
    /// else: the contender, the program, its size and the threads.
    #[arg(long, hide = true, num_args = 4)]
    peak: Option<Vec<String>>,

    /// Writes the results here as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Stores each group in this folder, as JSON and as plots, when it is measured, and makes its
    /// README.md again: benches/results/DATE-MACHINE. Other groups may follow, of the same commit
    /// on the same machine.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scenario", "contender"])]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let (Some(contender), Some(count)) = (&arguments.resident, arguments.processes) {
        println!("{}", idle::resident_each(contender, count, arguments.waves));
        return ExitCode::SUCCESS;
    }
    if let Some([contender, count]) = arguments.burst.as_deref() {
        println!("{}", burst::kept(contender, count));
        return ExitCode::SUCCESS;
    }
    if let Some([threads, frames]) = arguments.bevy.as_deref() {
        println!("{}", engine::bevy_frames(threads, frames));
        return ExitCode::SUCCESS;
    }
    if let Some([program, size, threads]) = arguments.forte.as_deref() {
        for figure in fork_join::forte_turn(program, size, threads) {
            println!("{figure}");
        }
        return ExitCode::SUCCESS;
    }
    if let Some([contender, program, size, threads]) = arguments.peak.as_deref() {
        println!("{}", fork_join::peak(contender, program, size, threads));
        return ExitCode::SUCCESS;
    }
    let mut effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    effort.rounds = arguments.rounds.unwrap_or(effort.rounds).max(1);
    let mut report = Report::new(
        machine::describe(),
        run::Effort {
            rounds: effort.rounds,
            quick: arguments.quick,
            seed: arguments.seed,
        },
    );
    println!("{}", report.heading());
    let measured = measure(&arguments, effort, &mut report);
    if let Err(error) = measured {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure(arguments: &Arguments, effort: Effort, report: &mut Report) -> Result<(), String> {
    let stored = arguments.report.as_ref();
    let stored = stored.map(|path| Stored::open(path, report)).transpose()?;
    let counts = if arguments.curve {
        curve::counts(report.cores())
    } else {
        arguments.workers.clone()
    };
    let mut curves = Curves::default();
    let mut complaints = Vec::new();
    let mut is_answered = false;
    for &group in Group::ALL {
        if !arguments.group.is_empty() && !arguments.group.contains(&group) {
            continue;
        }
        let mut measure = |mut scenario: Scenario, point| {
            let wanted = arguments.scenario.as_deref().unwrap_or_default();
            scenario.keep(arguments.contender.as_deref().unwrap_or_default());
            if !scenario.name().contains(wanted) || scenario.contenders().is_empty() {
                return None;
            }
            let measured = scenario.measure(effort.rounds, arguments.seed);
            println!("{}", report.add(group.name(), &measured, point));
            Some(measured)
        };
        if counts.is_empty() {
            for scenario in group.scenarios(effort) {
                measure(scenario, None);
            }
        }
        for &workers in &counts {
            let workers = workers.max(1);
            rivals::set_workers(workers);
            let curve = group.curve(workers, effort);
            if curve.is_empty() {
                println!("{}: {NO_CURVE}\n", group.name());
                is_answered = true;
                break;
            }
            for (kind, scenario) in curve {
                let curve = kind.clone();
                if let Some(measured) = measure(scenario, Some(run::Point { curve, workers })) {
                    curves.add(kind, workers, &measured);
                }
            }
        }
        if let Some(stored) = &stored {
            complaints = report.store(group.name(), stored)?;
        }
    }
    print!("{curves}");
    for complaint in complaints {
        println!("benches/reasons.toml: {complaint}");
    }
    if report.is_empty() && !is_answered {
        return Err("no scenario was selected".to_owned());
    }
    let json = arguments.json.as_ref();
    json.map_or(Ok(()), |path| report.write_json(path))
}
