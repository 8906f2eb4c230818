//! Random graphs and farms: the invariants of each simulation.

use std::collections::HashSet;
use std::time::Duration;

use filch::build_scheduler::Config;
use proptest::prelude::*;

use crate::build::simulate::bounds;
use crate::build::simulate::farm::{Amount, Link};
use crate::build::simulate::figures::makespan;
use crate::build::simulate::graph::{Graph, Job, LogNormal, Shape};
use crate::build::simulate::policy::{Kind, Pooled};
use crate::build::simulate::simulation::{Outcome, Setup, simulate};

#[derive(Debug, Clone, Copy)]
struct Case {
    shape: Shape,
    setup: Setup,
    waits: Config,
}

fn shape() -> impl Strategy<Value = Shape> {
    let sizes = (1_u32..150, 1_u32..8, 1_u32..5, 0_u32..12, 1_u32..4);
    (sizes, any::<u64>()).prop_map(|((jobs, layers, fan_in, window, skew), seed)| {
        let spread = |median| LogNormal { median, sigma: 1.0 };
        Shape {
            jobs,
            layers: layers.min(jobs),
            fan_in,
            window,
            skew,
            run: spread(2.0),
            size: spread(100.0),
            seed,
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let farm = (1_u32..9, 1_u32..4);
    let link = (0.0..0.1, 10.0..1_000.0);
    let waits = prop_oneof![Just(0), 0_u64..20_000, Just(60_000)];
    (shape(), farm, link, prop_oneof![Just(0.0), 0.0..1.0], waits).prop_map(
        |(shape, (workers, slots), (latency, bandwidth), cached, deps)| Case {
            shape,
            setup: Setup {
                workers,
                slots,
                link: Link { latency, bandwidth },
                cached,
                seed: shape.seed,
            },
            waits: Config::new(
                Duration::from_millis(deps / 10),
                Duration::from_millis(deps),
            )
            .seed(shape.seed),
        },
    )
}

fn run(kind: Kind, graph: &Graph, case: &Case) -> Outcome {
    let setup = &case.setup;
    let mut policy = kind.policy(setup.workers, case.waits);
    simulate(graph, setup, &mut *policy).unwrap()
}

/// Runs with the queue of a farm before the policy.
fn run_queued(kind: Kind, graph: &Graph, case: &Case) -> Outcome {
    let Setup { workers, slots, .. } = case.setup;
    let pools = format!("pools = [{{ workers = {workers}, cpus = {slots} }}]");
    let jobs = graph.jobs();
    let farm = toml::from_str(&format!("{pools}\ninvocations = [{{ jobs = {jobs} }}]"));
    let mut policy = Pooled::new(kind, &farm.unwrap(), case.waits);
    simulate(graph, &case.setup, &mut policy).unwrap()
}

/// Recomputes the transfers from the records alone: for each job, it scans what its worker ran
/// before. Also checks the time of each job.
fn recount(graph: &Graph, setup: &Setup, outcome: &Outcome) -> Amount {
    let results: HashSet<_> = setup.cached_results(graph.jobs()).into_iter().collect();
    let mut moved = Amount::default();
    for (job, record) in outcome.records.iter().enumerate() {
        let job = job as Job;
        let ran_before = |other: &Job| {
            let other = &outcome.records[*other as usize];
            // A job that takes no time ends where it starts.
            other.worker == record.worker && other.end <= record.start
        };
        let has = |artifact: Job| {
            results.contains(&(artifact, record.worker))
                || (0..graph.jobs()).filter(ran_before).any(|other| {
                    let fetched = outcome.records[other as usize];
                    other == artifact && other != job
                        || fetched.end > fetched.start && graph.inputs(other).contains(&artifact)
                })
        };
        if results.contains(&(job, record.worker)) {
            assert_eq!(record.start, record.end, "job {job}");
            continue;
        }
        let missing = graph.inputs(job).iter().filter(|&&input| !has(input));
        let sizes = missing.map(|&input| graph.size(input));
        let (inputs, bytes) = sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
        moved.add(Amount { inputs, bytes });
        let Link { latency, bandwidth } = setup.link;
        let transfer = inputs as f64 * latency + bytes as f64 / bandwidth;
        let expected = transfer * 1e9 + graph.run(job) as f64;
        let took = (record.end - record.start) as f64;
        assert!(
            (took - expected).abs() < 2.0,
            "job {job}: {took} {expected}"
        );
    }
    moved
}

/// Returns the most jobs that a worker ran at a time. A job that takes no time takes no slot.
fn most_at_a_time(outcome: &Outcome, workers: u32) -> i32 {
    let mut most = 0;
    for worker in 0..workers {
        let own = outcome
            .records
            .iter()
            .filter(|record| record.worker == worker);
        let mut changes: Vec<_> = own
            .filter(|record| record.end > record.start)
            .flat_map(|record| [(record.start, 1), (record.end, -1)])
            .collect();
        // A job that ends at a moment makes room for one that begins then.
        changes.sort_unstable();
        let mut running = 0;
        for (_, change) in changes {
            running += change;
            most = most.max(running);
        }
    }
    most
}

fn check(kind: Kind, case: &Case, run: fn(Kind, &Graph, &Case) -> Outcome) {
    let graph = Graph::generate(&[case.shape]);
    let outcome = run(kind, &graph, case);
    let setup = &case.setup;
    for (job, record) in outcome.records.iter().enumerate() {
        let inputs = graph.inputs(job as Job).iter();
        let made = inputs
            .map(|&input| outcome.records[input as usize].end)
            .max();
        assert_eq!(record.ready, made.unwrap_or(0), "{kind}: job {job}");
        assert!(
            record.ready <= record.start && record.start <= record.end,
            "{kind}: job {job}"
        );
        assert!(record.worker < setup.workers, "{kind}: job {job}");
        let least = if record.start == record.end {
            0
        } else {
            graph.run(job as Job)
        };
        assert!(record.end - record.start >= least, "{kind}: job {job}");
    }
    assert!(
        most_at_a_time(&outcome, setup.workers) <= setup.slots as i32,
        "{kind}"
    );
    assert!(
        makespan(&outcome) >= bounds(&graph, setup, None).least(),
        "{kind}"
    );
    assert!(outcome.moved.inputs <= outcome.needed.inputs, "{kind}");
    assert!(outcome.moved.bytes <= outcome.needed.bytes, "{kind}");
    assert_eq!(run(kind, &graph, case), outcome, "{kind}");
    assert_eq!(recount(&graph, setup, &outcome), outcome.moved, "{kind}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_rules_hold_for_every_policy(case in case()) {
        for kind in Kind::ALL {
            check(kind, &case, run);
            check(kind, &case, run_queued);
        }
    }

    /// There is nothing to decide: a worker that never rests ends when all work is done.
    #[test]
    fn one_worker_without_transfer_takes_the_sum_of_the_run_times(case in case()) {
        let free = Link { latency: 0.0, bandwidth: f64::INFINITY };
        let setup = Setup { workers: 1, slots: 1, link: free, cached: 0.0, ..case.setup };
        // Only filch lets a job wait that nobody is near to.
        let waits = Config::new(case.waits.cache_timeout, Duration::ZERO).seed(case.waits.seed);
        let case = Case { setup, waits, ..case };
        let graph = Graph::generate(&[case.shape]);
        let sum = (0..graph.jobs()).map(|job| graph.run(job)).sum::<u64>();
        for kind in Kind::ALL {
            prop_assert_eq!(makespan(&run(kind, &graph, &case)), sum, "{}", kind);
        }
    }

    /// Without a wait and without a transfer, filch has one queue that matters: it is FIFO.
    #[test]
    fn on_a_free_link_and_without_a_wait_filch_is_as_fast_as_fifo(shape in shape()) {
        // One input each, all jobs equally long: all choices of a worker are equal.
        let shape = Shape { run: LogNormal { median: 1.0, sigma: 0.0 }, layers: 1, ..shape };
        let free = Link { latency: 0.0, bandwidth: f64::INFINITY };
        let setup = Setup {
            workers: 3, slots: 2, link: free, cached: 0.0, seed: shape.seed,
        };
        let waits = Config::new(Duration::ZERO, Duration::ZERO).seed(shape.seed);
        let case = Case { shape, setup, waits };
        let graph = Graph::generate(&[shape]);
        let expected = u64::from(shape.jobs).div_ceil(6) * 1_000_000_000;
        for kind in [Kind::Filch, Kind::Fifo, Kind::AlwaysWait, Kind::NearFirst] {
            prop_assert_eq!(makespan(&run(kind, &graph, &case)), expected, "{}", kind);
        }
        let waits = |kind| {
            let outcome = run(kind, &graph, &case);
            outcome.records.iter().map(|record| record.start).collect::<Vec<_>>()
        };
        prop_assert_eq!(waits(Kind::Filch), waits(Kind::Fifo));
    }
}
