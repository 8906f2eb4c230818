//! A farm's queue before the policies: invocations, priorities, platforms and large jobs.

use std::time::Duration;

use super::by_hand::two;

use filch::build_scheduler::Config;

use crate::build::simulate::graph::{Graph, LogNormal, Shape};
use crate::build::simulate::policy::{Kind, Pooled};
use crate::build::simulate::setting::{Setting, sum};
use crate::build::simulate::simulation::{Setup, simulate};

/// Runs the setting, whose jobs take a second each; returns the second at which each began.
fn starts(kind: Kind, setting: &str) -> Vec<u64> {
    let farm: Setting = toml::from_str(setting).unwrap();
    let all = |median| LogNormal { median, sigma: 0.0 };
    let shape = Shape {
        jobs: sum(&farm.invocations),
        layers: 1,
        fan_in: 1,
        window: 0,
        skew: 1,
        run: all(1.0),
        size: all(1.0),
        seed: 1,
    };
    let setup = Setup {
        workers: sum(&farm.pools),
        ..two()
    };
    let graph = Graph::generate(&farm.shapes(shape));
    let waits = Config::new(Duration::ZERO, Duration::ZERO);
    let mut policy = Pooled::new(kind, &farm, waits);
    let outcome = simulate(&graph, &setup, &mut policy).unwrap();
    let starts = outcome.records.iter();
    starts.map(|record| record.start / 1_000_000_000).collect()
}

#[test]
fn by_turns_a_small_invocation_does_not_starve() {
    let small = |kind, name: &str| {
        let large = "pools = [{ workers = 4 }]\ninvocations = [{ name = 'a', jobs = 100 }";
        let starts = starts(kind, &format!("{large}, {{ name = '{name}', jobs = 4 }}]"));
        starts[100..].to_vec()
    };
    // Four of the large one run, and four are ahead; then it is one of each in turn.
    assert_eq!(small(Kind::NearFirst, "b"), [2, 2, 3, 3]);
    // FIFO knows no turns, and jobs of one name have one turn.
    assert_eq!(small(Kind::Fifo, "b"), [25; 4]);
    assert_eq!(small(Kind::NearFirst, "a"), [25; 4]);
}

#[test]
fn a_large_job_does_not_share_its_worker_with_eight_others() {
    for (what, many) in [("cpus", 8), ("memory", 64)] {
        let of = |jobs, amount: u32| format!("{{ jobs = {jobs}, {what} = {amount} }}");
        let small = many / 8;
        let jobs = [of(4, small), of(1, many), of(8, small)].join(",");
        let farm = "pools = [{ workers = 1, cpus = 8, memory = 64 }]";
        for kind in Kind::ALL {
            let starts = starts(kind, &format!("{farm}\ninvocations = [{jobs}]"));
            let expected = [0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2];
            assert_eq!(starts, expected, "{kind}: {what}");
        }
    }
}

#[test]
fn a_lower_priority_goes_first_and_a_job_goes_to_its_platform() {
    let farm = "
        pools = [
            { workers = 1, properties = { os = 'linux' } },
            { workers = 1, properties = { os = 'mac' } },
        ]
        invocations = [
            { jobs = 3, priority = 5, properties = { os = 'linux' } },
            { jobs = 2, priority = -1, properties = { os = 'linux' } },
            { jobs = 2, properties = { os = 'mac' } },
        ]";
    // One runs and one is ahead.
    assert_eq!(starts(Kind::NearFirst, farm), [0, 1, 4, 2, 3, 0, 1]);
    assert_eq!(starts(Kind::Fifo, farm), [0, 1, 2, 3, 4, 0, 1]);
}
