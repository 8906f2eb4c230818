//! `cargo xtask rayon-bench`: the programs of `examples/rayon` on rayon's core and on ours.
//!
//! The package is copied twice into `target/`, once with the one line in its manifest, and built.
//! Both run at once, one of them idle: they do one round after the other by turns.

mod contender;
mod paired;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use filch_report::estimate::median;

use crate::commands::rayon::programs;
use crate::support::error::Result;
use crate::support::process::{cargo, target_directory};
use crate::support::table::Table;
use crate::support::tally::Tally;

use contender::Contender;
use paired::Paired;

/// The two cores, as the programs call them.
const CORES: [&str; 2] = ["rayon", "filch"];

/// After so many rounds both programs are started anew.
const ROUNDS_OF_A_PROCESS: usize = 5;

#[derive(Args)]
pub(crate) struct Options {
    /// How often each program runs on each core, besides first times that do not count.
    #[arg(long, value_name = "N", default_value_t = 10)]
    rounds: usize,

    /// Little work: whether all runs, and no figures.
    #[arg(long)]
    small: bool,

    /// Only these programs.
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let [rayon, filch] = CORES;
    let programs = [(rayon, build(rayon)?), (filch, build(filch)?)];
    let mut results = Vec::new();
    let mut left = options.rounds;
    while left > 0 {
        // Where the pages of a process lie makes up to a twentieth, as long as it lives.
        let [rayon, filch] = &programs;
        let contenders = [
            Contender::start(rayon.0, &rayon.1, options.small)?,
            Contender::start(filch.0, &filch.1, options.small)?,
        ];
        let rounds = left.min(ROUNDS_OF_A_PROCESS);
        compare(contenders, rounds, options, &mut results)?;
        left -= rounds;
    }
    if !options.small {
        println!("\n{}", table(&results));
    }
    let tally = Tally {
        passed: results.len().try_into()?,
        failed: 0,
    };
    println!("{tally}");
    Ok(tally.exit_code())
}

/// A program, and its rounds on both cores.
struct Compared {
    name: String,
    /// What the sequential form took, in nanoseconds, each time.
    sequential: Vec<f64>,
    paired: Paired,
}

/// Every program runs on both cores; a wrong result ends its process, and is an error.
fn compare(
    mut contenders: [Contender; 2],
    rounds: usize,
    options: &Options,
    results: &mut Vec<Compared>,
) -> Result<()> {
    if results.is_empty() {
        for contender in &contenders {
            println!("{}: {} threads", contender.core, contender.threads);
        }
    }
    for name in contenders[0].programs.clone() {
        if !options.names.is_empty() && !options.names.contains(&name) {
            continue;
        }
        let known = results.iter().position(|result| result.name == name);
        let at = known.unwrap_or(results.len());
        if known.is_none() {
            results.push(Compared {
                name: name.clone(),
                sequential: Vec::new(),
                paired: Paired::default(),
            });
        }
        let result = &mut results[at];
        // What fills the caches and grows what grows; and says what the sequential form takes.
        for contender in &mut contenders {
            result.sequential.extend(contender.round(&name)?.sequential);
        }
        for round in 0..rounds {
            let mut times = [0.0; 2];
            for turn in [round % 2, (round + 1) % 2] {
                times[turn] = contenders[turn].round(&name)?.elapsed;
            }
            result.paired.add(times);
        }
    }
    Ok(())
}

fn table(results: &[Compared]) -> Table<6> {
    let mut table = Table::new([
        "program, ms",
        ">sequential",
        ">rayon",
        ">filch",
        ">filch / rayon",
        "95 % of the ratio",
    ]);
    let milliseconds = |nanoseconds: f64| format!("{:.1}", nanoseconds / 1e6);
    for result in results {
        let [rayon, filch] = result.paired.medians().map(milliseconds);
        let ratios = result.paired.ratios();
        let interval = ratios.interval.map_or("too few rounds".to_owned(), |ends| {
            format!("{:.3} to {:.3}", ends[0], ends[1])
        });
        table.row([
            result.name.clone(),
            milliseconds(median(&result.sequential)),
            rayon,
            filch,
            format!("{:.3}", ratios.median),
            interval,
        ]);
    }
    table
}

/// Builds the programs on that core. Where the program is.
fn build(core: &str) -> Result<PathBuf> {
    let place = target_directory("rayon-bench").join(core);
    programs::copy(&place, core != CORES[0])?;
    let target = place.join("target");
    let mut command = cargo();
    command
        .args(["build", "--quiet", "--release", "--bin", "programs"])
        .current_dir(&place)
        .env("CARGO_TARGET_DIR", &target);
    if !command.status()?.success() {
        return Err(format!("the programs do not build on {core}").into());
    }
    Ok(target.join("release/programs"))
}
