//! Programs on rayon, each checked against its sequential form and timed.
//!
//! ```sh
//! cargo run --release --bin programs -- sort sieve  # these, once each
//! cargo run --release --bin programs -- all         # or all of them
//! ```
//!
//! Without names it reads them from its input, a line for each round: so a comparison of two builds
//! can run them by turns. The answer is the line `name nanoseconds`; the first answer comes after
//! `name/sequential nanoseconds`, the time without rayon. `--small` divides the work.

mod bodies;
mod program;
mod recursions;
mod sieve;
mod small;
mod sort;
mod sums;
mod words;

use std::error::Error;
use std::io;

use program::{Effort, Prepared, Program};

/// In the order of the table.
const PROGRAMS: &[Program] = &[
    sort::SORT,
    sums::SUM_INTEGERS,
    sums::SUM_FLOATS,
    bodies::BODIES,
    sieve::SIEVE,
    words::WORDS,
    recursions::QUICKSORT,
    recursions::QUEENS,
    recursions::FIB,
    small::LEAVES,
    small::SPAWNS,
    small::SPAWNS_FIFO,
    small::SPAWN_TREE,
    small::INSTALLS,
    small::BETWEEN,
];

fn main() -> Result<(), Box<dyn Error>> {
    let (options, names): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let effort = match options.as_slice() {
        [] => Effort::Full,
        [option] if option == "--small" => Effort::Small,
        _ => return Err(format!("no such options: {}", options.join(" ")).into()),
    };
    let threads = rayon::current_num_threads();
    println!("core {} {threads}", on_rayon::core());
    for program in PROGRAMS {
        println!("program {}", program.name);
    }
    println!("ready");
    let mut last = None;
    if names.is_empty() {
        for name in io::stdin().lines() {
            round(&name?, effort, &mut last)?;
        }
    }
    for name in names {
        match name.as_str() {
            "all" => PROGRAMS
                .iter()
                .try_for_each(|program| round(program.name, effort, &mut last))?,
            name => round(name, effort, &mut last)?,
        }
    }
    Ok(())
}

/// The program of the last round, with its data.
type Last = Option<(&'static str, Prepared)>;

/// Runs a round of the program of that name, and makes its data if it was not the last one.
fn round(name: &str, effort: Effort, last: &mut Last) -> Result<(), Box<dyn Error>> {
    if last.as_ref().is_none_or(|(own, _)| *own != name) {
        // Drops the last one's data before it makes this one's.
        *last = None;
        let program = PROGRAMS.iter().find(|program| program.name == name);
        let program = program.ok_or_else(|| format!("no such program: {name}"))?;
        let prepared = (program.prepare)(effort);
        println!("{name}/sequential {}", prepared.sequential.as_nanos());
        *last = Some((program.name, prepared));
    }
    if let Some((_, prepared)) = last {
        println!("{name} {}", (prepared.round)().as_nanos());
    }
    Ok(())
}
