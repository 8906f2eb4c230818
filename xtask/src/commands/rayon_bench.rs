//! `cargo xtask rayon-bench`: the programs of `examples/rayon` on rayon's core and on ours.
//!
//! The package is copied twice into `target/`, once with the one line in its manifest, and built.
//! Both run at once, one of them idle: they do one round after the other by turns.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use clap::Args;
use filch_report::estimate::{Estimate, median};

use crate::commands::rayon::programs;
use crate::support::error::Result;
use crate::support::process::{Tree, target_directory};
use crate::support::table::Table;

/// The two cores, as the programs call them.
const CORES: [&str; 2] = ["rayon", "filch"];

/// After so many rounds both programs are started anew: where the pages of a process lie makes up
/// to a twentieth, as long as it lives.
const ROUNDS_OF_A_PROCESS: usize = 5;

#[derive(Args)]
pub(crate) struct Options {
    /// The rounds of each program on each core, besides first times that do not count.
    #[arg(long, value_name = "N", default_value_t = 10)]
    rounds: usize,

    /// Only these programs.
    names: Vec<String>,
}

/// A program, and what it took, in nanoseconds.
struct Compared {
    name: String,
    /// The form without rayon.
    sequential: Vec<f64>,
    /// On both cores, by turns.
    rounds: Vec<[f64; 2]>,
}

/// Every program runs on both cores; a wrong result ends its process, and is an error.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let programs = [build(CORES[0])?, build(CORES[1])?];
    let mut results: Vec<Compared> = Vec::new();
    let mut left = options.rounds;
    while left > 0 {
        let mut contenders = [
            Contender::start(CORES[0], &programs[0])?,
            Contender::start(CORES[1], &programs[1])?,
        ];
        for name in contenders[0].programs.clone() {
            if !options.names.is_empty() && !options.names.contains(&name) {
                continue;
            }
            if !results.iter().any(|result| result.name == name) {
                results.push(Compared {
                    name: name.clone(),
                    sequential: Vec::new(),
                    rounds: Vec::new(),
                });
            }
            let result = results.iter_mut().find(|result| result.name == name);
            let result = result.expect("it was just added");
            // What fills the caches and grows what grows; and says what the sequential form takes.
            for contender in &mut contenders {
                result.sequential.extend(contender.round(&name)?.0);
            }
            for round in 0..left.min(ROUNDS_OF_A_PROCESS) {
                let mut times = [0.0; 2];
                for turn in [round % 2, (round + 1) % 2] {
                    times[turn] = contenders[turn].round(&name)?.1;
                }
                result.rounds.push(times);
            }
        }
        left = left.saturating_sub(ROUNDS_OF_A_PROCESS);
    }
    println!("\n{}", table(&results));
    Ok(ExitCode::SUCCESS)
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
    let shown = |times: Vec<f64>| format!("{:.1}", median(&times) / 1e6);
    for Compared {
        name,
        sequential,
        rounds,
    } in results
    {
        let side = |side: usize| shown(rounds.iter().map(|times| times[side]).collect());
        // Of one round each.
        let ratios: Vec<_> = rounds.iter().map(|[rayon, filch]| filch / rayon).collect();
        let ratios = Estimate::of(&ratios);
        let interval = ratios.interval.map_or("too few rounds".to_owned(), |ends| {
            format!("{:.3} to {:.3}", ends[0], ends[1])
        });
        let ratio = format!("{:.3}", ratios.median);
        let sequential = shown(sequential.clone());
        table.row([name.clone(), sequential, side(0), side(1), ratio, interval]);
    }
    table
}

/// Builds the programs on that core. Where the program is.
fn build(core: &str) -> Result<PathBuf> {
    let root = target_directory("rayon-bench").join(core);
    programs::copy(&root, core != CORES[0])?;
    let target = root.join("target");
    let program = target.join("release/programs");
    let mut command = Tree { root, target }.cargo();
    command.args(["build", "--quiet", "--release", "--bin", "programs"]);
    if !command.status()?.success() {
        return Err(format!("the programs do not build on {core}").into());
    }
    Ok(program)
}

/// One build of the programs, alive: it does a round when it is told to.
struct Contender {
    core: &'static str,
    programs: Vec<String>,
    child: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Contender {
    /// Starts `program`, which must run on that core.
    fn start(core: &'static str, program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = child.stdin.take().ok_or("no way to tell it anything")?;
        let output = child.stdout.take().ok_or("no way to hear from it")?;
        let mut contender = Self {
            core,
            programs: Vec::new(),
            child,
            commands,
            answers: BufReader::new(output).lines(),
        };
        loop {
            let line = contender.answer()?;
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["core", own, threads] if *own == core => println!("{core}: {threads} threads"),
                ["program", name] => contender.programs.push((*name).to_owned()),
                ["ready"] => return Ok(contender),
                _ => return Err(format!("built for {core}'s core, it says: {line}").into()),
            }
        }
    }

    /// Returns the round's time; in the first one, also that of the sequential form.
    fn round(&mut self, name: &str) -> Result<(Option<f64>, f64)> {
        writeln!(self.commands, "{name}")?;
        let mut sequential = None;
        loop {
            let line = self.answer()?;
            let (label, figure) = line.split_once(' ').ok_or("an answer without a figure")?;
            if label == name {
                return Ok((sequential, figure.parse()?));
            }
            sequential = Some(figure.parse()?);
        }
    }

    fn answer(&mut self) -> Result<String> {
        match self.answers.next() {
            Some(line) => Ok(line?),
            None => Err(format!("{}'s programs: {}", self.core, self.child.wait()?).into()),
        }
    }
}

impl Drop for Contender {
    /// A program that hangs must not outlive the comparison.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
