//! Five jobs on two workers, worked out by hand.

use std::time::Duration;

use filch::build_scheduler::Config;

use crate::build::simulate::farm::{Amount, Link};
use crate::build::simulate::figures::makespan;
use crate::build::simulate::graph::{Bounds, Graph, Time};
use crate::build::simulate::policy::Kind;
use crate::build::simulate::simulation::{Outcome, Setup, simulate};

const SECOND: Time = 1_000_000_000;

/// `0` and `1` are made from nothing. `2` and `3` need `0`, which is 4 bytes large; `4` needs `2`
/// and `1`.
///
/// ```text
///   0 (4 s, 4 bytes) ──┬─▶ 2 (2 s, 2 bytes) ──▶ 4 (1 s)
///                      └─▶ 3 (3 s)              ▲
///   1 (1 s, 1 byte) ────────────────────────────┘
/// ```
fn five() -> Graph {
    Graph::of(&[
        (4 * SECOND, 4, &[]),
        (SECOND, 1, &[]),
        (2 * SECOND, 2, &[0]),
        (3 * SECOND, 1, &[0]),
        (SECOND, 1, &[1, 2]),
    ])
}

/// Makes two workers; a byte takes a second to fetch.
pub(super) fn two() -> Setup {
    Setup {
        workers: 2,
        slots: 1,
        link: Link {
            latency: 0.0,
            bandwidth: 1.0,
        },
        cached: 0.0,
        seed: 1,
    }
}

fn waits(deps: u64) -> Config {
    Config::new(Duration::from_secs(1), Duration::from_secs(deps)).seed(1)
}

#[track_caller]
fn run(kind: Kind, graph: &Graph, setup: &Setup, waits: Config) -> Outcome {
    let mut policy = kind.policy(setup.workers, waits);
    simulate(graph, setup, &mut *policy).unwrap()
}

/// Returns the begin and the end of each job, in seconds, and its worker.
fn times(outcome: &Outcome) -> Vec<(u64, u64, u32)> {
    let records = outcome.records.iter();
    let seconds = |time: Time| {
        assert_eq!(time % SECOND, 0);
        time / SECOND
    };
    records
        .map(|record| (seconds(record.start), seconds(record.end), record.worker))
        .collect()
}

fn moved(inputs: u64, bytes: u64) -> Amount {
    Amount { inputs, bytes }
}

#[test]
fn fifo_takes_the_oldest_wherever_its_inputs_are() {
    let outcome = run(Kind::Fifo, &five(), &two(), waits(60));
    // At 4, worker 1 has been free for longest: it gets job 2 and fetches 4 bytes. Worker 0 gets
    // job 3, and has its input. At 10, job 4 goes to worker 0, free since 7: it fetches both.
    let expected = [(0, 4, 0), (0, 1, 1), (4, 10, 1), (4, 7, 0), (10, 14, 0)];
    assert_eq!(times(&outcome), expected);
    assert_eq!(outcome.moved, moved(3, 7));
    assert_eq!(outcome.needed, moved(4, 11));
}

#[test]
fn always_wait_fetches_only_what_no_choice_spares() {
    let outcome = run(Kind::AlwaysWait, &five(), &two(), waits(60));
    // Jobs 2 and 3 wait for worker 0, which has their input. Job 4 is ready at 6, and worker 1 has
    // one of its inputs, and is free: it fetches the other one.
    let expected = [(0, 4, 0), (0, 1, 1), (4, 6, 0), (6, 9, 0), (6, 9, 1)];
    assert_eq!(times(&outcome), expected);
    assert_eq!(outcome.moved, moved(1, 2));
}

#[test]
fn near_first_waits_for_its_timeout_and_no_longer() {
    let outcome = run(Kind::NearFirst, &five(), &two(), waits(1));
    // At 5 the wait of job 3 is over, and worker 1 is free: it fetches 4 bytes. Job 4 is ready at
    // 6, where job 2 ended.
    let expected = [(0, 4, 0), (0, 1, 1), (4, 6, 0), (5, 12, 1), (6, 8, 0)];
    assert_eq!(times(&outcome), expected);
    assert_eq!(outcome.moved, moved(2, 5));
    let patient = run(Kind::NearFirst, &five(), &two(), waits(60));
    let always = run(Kind::AlwaysWait, &five(), &two(), waits(60));
    assert_eq!(times(&patient), times(&always));
}

#[test]
fn filch_keeps_even_a_job_without_inputs_for_the_timeout() {
    let outcome = run(Kind::Filch, &five(), &two(), waits(1));
    // As near first, one second later: nobody is near to jobs 0 and 1, and yet they wait.
    let expected = [(1, 5, 0), (1, 2, 1), (5, 7, 0), (6, 13, 1), (7, 9, 0)];
    assert_eq!(times(&outcome), expected);
    assert_eq!(outcome.moved, moved(2, 5));
    let outcome = run(Kind::Filch, &five(), &two(), waits(60));
    let expected = [
        (60, 64, 0),
        (60, 61, 1),
        (64, 66, 0),
        (66, 69, 0),
        (66, 69, 1),
    ];
    assert_eq!(times(&outcome), expected);
}

#[test]
fn the_lower_bound_is_the_longest_chain_or_the_work() {
    let graph = five();
    let bounds = graph.bounds(2, |job| graph.run(job));
    let expected = Bounds {
        chain: 7 * SECOND,
        work: 5_500_000_000,
    };
    assert_eq!(bounds, expected);
    assert_eq!(bounds.least(), 7 * SECOND);
    assert_eq!(graph.bounds(1, |job| graph.run(job)).least(), 11 * SECOND);
}

#[test]
fn a_result_that_a_worker_has_takes_no_time_there() {
    let setup = Setup {
        cached: 1.0,
        ..two()
    };
    let outcome = run(Kind::AlwaysWait, &five(), &setup, waits(60));
    assert_eq!(makespan(&outcome), 0);
    assert_eq!(outcome.results_used, 5);
    assert_eq!((outcome.moved, outcome.needed), (moved(0, 0), moved(0, 0)));
    let outcome = run(Kind::Filch, &five(), &setup, waits(60));
    assert_eq!((makespan(&outcome), outcome.results_used), (0, 5));
}

#[test]
fn a_wait_without_end_for_nobody_is_an_error() {
    let endless = Config::new(Duration::MAX, Duration::MAX);
    let mut policy = Kind::Filch.policy(2, endless);
    assert_eq!(simulate(&five(), &two(), &mut *policy), Err(0));
}
