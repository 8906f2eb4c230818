//! How many instructions an operation takes: `cargo bench --bench instructions`.
//!
//! callgrind counts them, so the figures are the same from run to run, on a busy machine too. With
//! `-- --check` they are compared with the bars in `instructions.json`, with `-- --write` they
//! become the bars.

mod bars;
mod callgrind;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use filch_operations::{ALL, Measure, job};

use bars::Bars;

/// Rounds before those that are counted, in which memory is allocated and blocks are made.
const WARM_UP: u64 = 8;

/// Rounds that are counted.
const ROUNDS: u64 = 64;

/// How often a job is done in the shorter of the two runs whose difference counts.
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

    /// How often `--run` does a job.
    #[arg(long, hide = true, default_value_t = TIMES)]
    times: u64,

    /// What cargo passes to every bench target.
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
    if let Some(operation) = ALL.iter().find(|operation| operation.name == name) {
        (operation.run)(&mut Rounds(0));
    } else if let Some(job) = job::ALL.iter().find(|job| job.name == name) {
        (job.run)(times);
    } else {
        return Err(format!("no operation is called {name:?}").into());
    }
    Ok(())
}

/// How many there were.
struct Rounds(u64);

impl Measure for Rounds {
    fn goes_on(&mut self) -> bool {
        self.0 < WARM_UP + ROUNDS
    }

    fn round(&mut self, work: &mut dyn FnMut()) {
        match self.0 {
            ..WARM_UP => work(),
            _ => counted(work),
        }
        self.0 += 1;
    }
}

/// callgrind counts while it is in here: see [`callgrind::operation`].
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Counts what is asked for, prints the table, and compares it with the bars.
fn count_all(arguments: &Arguments) -> Result<()> {
    let mut counts = Vec::new();
    let mut add = |name: &'static str, count: &dyn Fn() -> Result<f64>| {
        if name.contains(&arguments.name) {
            let count = count()?;
            println!("| {name} | {count:.2} |");
            counts.push((name, count));
        }
        Result::Ok(())
    };
    println!("| operation | instructions |\n|---|---:|");
    for operation in ALL {
        add(operation.name, &|| {
            let instructions = callgrind::operation(operation.name)?;
            Ok(instructions as f64 / (ROUNDS * operation.times) as f64)
        })?;
    }
    for job in job::ALL {
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
