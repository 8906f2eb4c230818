//! Fork/join: recursions whose leaves are nothing, and some whose leaves are very unequal.
//!
//! All programs have one text (`fork_join/programs.rs`), and the floor is that text without forks.
//! Only lace's tasks are written anew, as functions.

pub(crate) mod contenders;
mod lace;
pub(super) mod programs;
mod spawns;
mod tail;
mod uts;

use filch_report::estimate::median;

use self::contenders::{having, peak, turn};
use self::programs::{Kind, Program};
use crate::harness::Scenario;
use crate::work::{WORKERS, those_or};

/// The argument of the recursion that does nothing but fork.
const FIB: u64 = 30;

/// The depth of the trees.
const DEPTH: u64 = 19;

const OURS: &str = "filch-fork-join";
const WITH_CALLER: &str = "filch-fork-join, the caller takes part";
const THREAD_LOCAL: &str = "filch-fork-join, thread-local";
const SEQUENTIAL: &str = "sequential";

pub(crate) fn scenarios() -> Vec<Scenario> {
    let leaves = 25_000;
    let row = |name: &str, unit, kind, size| (name.to_owned(), unit, Program { kind, size });
    let (fib, skewed) = (format!("fib({FIB})"), "leaves of 100 ns and 1 ms");
    let programs = [
        row(&fib, "ns per fork", Kind::Fib, FIB),
        row(&format!("{fib}, moved"), "ns per fork", Kind::FibMoved, FIB),
        row(
            &format!("{fib}, the larger part second"),
            "ns per fork",
            Kind::FibBackwards,
            FIB,
        ),
        row("a tree in memory", "ns per node", Kind::Sum, DEPTH),
        row(
            "a tree in memory, second branches first",
            "ns per node",
            Kind::SumBackwards,
            DEPTH,
        ),
        row("11 queens", "us", Kind::Queens, 11),
        row("13 queens", "us", Kind::Queens, 13),
        row("unbalanced tree", "ns per node", Kind::Unbalanced, 0),
        row("UTS, binomial", "ns per node", Kind::Search, 0),
        row(skewed, "ns per leaf", Kind::Skewed, leaves),
        row("20 ms behind 10 000 jobs", "us", Kind::Behind, 10_000),
        row("20 jobs of 1 ms above 20 ms", "us", Kind::Chain, 20),
    ];
    let peaks = [
        row(&format!("peak memory of {fib}"), "KiB", Kind::Fib, FIB),
        row(
            "peak memory beside a tree of depth 18",
            "KiB",
            Kind::Sum,
            18,
        ),
    ];
    let all = those_or(&[1, WORKERS]).into_iter().flat_map(|threads| {
        // One thread has nobody to leave work to.
        let measured = programs.iter();
        let measured = measured.filter(move |(.., it)| threads > 1 || !it.counts_each_run());
        let measured = measured.map(move |(name, unit, it)| scenario(name, unit, threads, *it));
        let peaks = peaks.iter();
        measured
            .chain(spawns::scenarios(threads))
            .chain(visits(threads))
            .chain(peaks.map(move |(name, unit, it)| peak_of(name, unit, threads, *it)))
    });
    let tails = those_or(&tail::THREADS).into_iter();
    all.chain(tails.flat_map(tail::scenarios)).collect()
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
            let mut turn = turn("timed", name, threads, program);
            match name {
                SEQUENTIAL => scenario.floor(name, move || median(&turn())),
                _ if program.counts_each_run() => scenario.latencies(name, turn),
                _ => scenario.contender(name, move || turn()[0]),
            }
        })
}

/// Visits from outside to a pool that sleeps: of nothing, and of one fork with nothing in it.
fn visits(threads: usize) -> impl Iterator<Item = Scenario> {
    let contenders = [OURS, WITH_CALLER, "chili", "rayon", "forte, visited"];
    let all = [("visit, nothing", 1), ("visit, one fork of nothing", 2)];
    all.into_iter().map(move |(name, size)| {
        let program = Program {
            kind: Kind::Fib,
            size,
        };
        let scenario = of(name, threads, "us");
        contenders.into_iter().fold(scenario, |scenario, name| {
            scenario.latencies(name, turn("visits", name, threads, program))
        })
    })
}

/// The peak of the memory of a program of its own.
fn peak_of(name: &str, unit: &'static str, threads: usize, program: Program) -> Scenario {
    let contenders = [OURS, "chili", "rayon", "forte", "lace"].into_iter();
    let contenders = contenders.filter(|&name| having(program.kind).contains(&name));
    let scenario = of(name, threads, unit);
    let scenario = contenders.fold(scenario, |scenario, name| {
        scenario.contender(name, move || peak(name, threads, program))
    });
    scenario.floor(SEQUENTIAL, move || peak(SEQUENTIAL, threads, program))
}
