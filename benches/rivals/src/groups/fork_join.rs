//! Fork/join: recursions whose leaves are nothing, and some whose leaves are very unequal.
//!
//! All programs have one text (`fork_join/programs.rs`), and the floor is that text without forks.
//! Only lace's tasks are written anew, as functions.

pub(crate) mod contenders;
pub(super) mod programs;
mod spawns;
mod timing;
mod uts;
pub(super) mod ways;

mod lace;

use filch_report::estimate::median;

use self::contenders::{having, peak, turn};
use self::programs::{Kind, Program};
use crate::harness::{Effort, Scenario};
use crate::workers::{WORKERS, those_or};

/// The argument of the recursion that does nothing but fork.
const FIB: u64 = 35;

const OURS: &str = "filch-fork-join";
const THREAD_LOCAL: &str = "filch-fork-join, thread-local";
const SEQUENTIAL: &str = "sequential";

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    // A quick run divides the work, and not the depth of a recursion by the same number.
    let n = if effort.is_full() { FIB } else { FIB - 5 };
    let leaves = effort.operations(200_000);
    let fib = Program::new(Kind::Fib, n);
    let programs = [
        (format!("fib({n})"), "ns per fork", fib),
        (
            format!("fib({n}), moved"),
            "ns per fork",
            Program::new(Kind::FibMoved, n),
        ),
        ("11 queens".into(), "us", Program::new(Kind::Queens, 11)),
        ("13 queens".into(), "us", Program::new(Kind::Queens, 13)),
        (
            "unbalanced tree".into(),
            "ns per node",
            Program::new(Kind::Unbalanced, 0),
        ),
        (
            "UTS, binomial".into(),
            "ns per node",
            Program::new(Kind::Search, 0),
        ),
        (
            "leaves of 100 ns and 1 ms".into(),
            "ns per leaf",
            Program::new(Kind::Skewed, leaves),
        ),
        (
            "20 jobs of 1 ms above 20 ms".into(),
            "us",
            Program::new(Kind::Chain, 20),
        ),
    ];
    let all = those_or(&[1, WORKERS]).into_iter().flat_map(|threads| {
        // One thread has nobody to leave work to.
        let measured = programs.iter();
        let measured = measured.filter(move |(.., it)| threads > 1 || !it.counts_each_run());
        let measured = measured.map(move |(name, unit, it)| scenario(name, unit, threads, *it));
        let peak = peak_of(&format!("peak memory of fib({n})"), threads, fib);
        measured
            .chain(spawns::scenarios(threads, effort))
            .chain([peak])
    });
    all.collect()
}

/// A scenario of so many threads.
fn of(name: &str, threads: usize, unit: &'static str) -> Scenario {
    Scenario::new(format!("{name}, threads: {threads}"), unit)
}

fn scenario(name: &str, unit: &'static str, threads: usize, program: Program) -> Scenario {
    let scenario = of(name, threads, unit);
    having(program.kind)
        .into_iter()
        .fold(scenario, |scenario, name| {
            let mut turn = turn(name, threads, program);
            match name {
                SEQUENTIAL => scenario.floor(name, move || median(&turn())),
                _ if program.counts_each_run() => scenario.latencies(name, turn),
                _ => scenario.contender(name, move || turn()[0]),
            }
        })
}

/// The peak of the memory of a program of its own.
fn peak_of(name: &str, threads: usize, program: Program) -> Scenario {
    let contenders = [OURS, "chili", "rayon", "forte", "lace"];
    let scenario = of(name, threads, "KiB");
    let scenario = contenders.into_iter().fold(scenario, |scenario, name| {
        scenario.contender(name, move || peak(name, threads, program))
    });
    scenario.floor(SEQUENTIAL, move || peak(SEQUENTIAL, threads, program))
}
