//! Counts the instructions of an operation: `cargo bench --bench instructions`.
//!
//! callgrind counts them, so the figures are the same from run to run, on a busy machine too. With
//! `-- --check` they are compared with the bars in `instructions.json`, with `-- --write` they
//! become the bars.

mod bars;
mod callgrind;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use filch_operations::job::Job;
use filch_operations::{Rounds, Step, operations};

use bars::Bars;

/// Rounds before those that are counted, in which memory is allocated and blocks are made.
const WARM_UP: u64 = 8;

/// Rounds that are counted.
const ROUNDS: u64 = 64;

/// The number of times that a job is done in the shorter of the two runs whose difference counts.
const TIMES: u64 = 65_536;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Counts the instructions of filch's operations.
#[derive(Parser)]
#[command(bin_name = "cargo bench --bench instructions --")]
struct Arguments {
    /// Only operations whose name contains this.
    #[arg(default_value = "")]
    name: String,

    /// Fails if an operation takes more instructions than its bar allows.
    #[arg(long, conflicts_with = "write")]
    check: bool,

    /// Makes the counts the bars.
    #[arg(long)]
    write: bool,

    /// Does the operation of exactly that name: what runs under callgrind.
    #[arg(long, hide = true)]
    run: Option<String>,

    /// The number of times that `--run` does a job.
    #[arg(long, hide = true, default_value_t = TIMES)]
    times: u64,

    /// Passed by cargo to every bench target.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.run {
        Some(name) => run(name, arguments.times),
        None => count_all(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does the operation or the job of that name, and nothing else.
fn run(name: &str, times: u64) -> Result<()> {
    if let Some(operation) = operations().iter().find(|operation| operation.name == name) {
        let mut step = (operation.start)();
        for round in 0..WARM_UP + ROUNDS {
            step(Step::Prepare);
            if round < WARM_UP {
                step(Step::Run);
            } else {
                counted(&mut step);
            }
            step(Step::Restore);
        }
        return Ok(());
    }
    let mut jobs = Job::ALL.iter().chain(&Job::ROADS);
    let job = jobs.find(|job| job.name == name);
    let job = job.ok_or(format!("no operation is called {name:?}"))?;
    (job.run)(times);
    Ok(())
}

/// callgrind counts while it is in here: see [`callgrind::operation`].
#[inline(never)]
fn counted(step: &mut Rounds) {
    step(Step::Run);
}

/// Counts what is asked for, prints the table, and compares it with the bars.
fn count_all(arguments: &Arguments) -> Result<()> {
    let mut counts = Vec::new();
    let mut add = |name: &'static str, count: &dyn Fn() -> Result<f64>| -> Result<()> {
        if name.contains(&arguments.name) {
            let count = count()?;
            println!("| {name} | {count:.2} |");
            counts.push((name, count));
        }
        Ok(())
    };
    println!("| operation | instructions |\n|---|---:|");
    for operation in operations() {
        add(operation.name, &|| {
            let instructions = callgrind::operation(operation.name)?;
            Ok(instructions as f64 / (ROUNDS * operation.times) as f64)
        })?;
    }
    for job in Job::ALL {
        add(job.name, &|| {
            let once = callgrind::everything(job.name, TIMES)?;
            let twice = callgrind::everything(job.name, 2 * TIMES)?;
            Ok(twice.saturating_sub(once) as f64 / TIMES as f64)
        })?;
    }
    if counts.is_empty() {
        return Err(format!("no operation's name contains {:?}", arguments.name).into());
    }
    if arguments.write {
        Bars::write(&counts)
    } else if arguments.check {
        Bars::read()?.check(&counts)
    } else {
        Ok(())
    }
}
