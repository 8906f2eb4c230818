//! The speed of Bazel with a cache: the farm's, or nginx, the simplest one.
//!
//! ```sh
//! cargo test --release -p filch-build --test clients -- --ignored --nocapture speed
//! ```

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use crate::bazel::Bazel;
use crate::cpu::cpu_time;
use crate::farm::Farm;
use crate::nginx::Nginx;

const ROUNDS: usize = 5;

/// A build of that many actions, each of which writes a file of that many bytes.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) actions: usize,
    pub(crate) bytes: usize,
}

const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "1 KiB",
        actions: 1000,
        bytes: 1 << 10,
    },
    Workload {
        name: "100 MiB",
        actions: 6,
        bytes: 100 << 20,
    },
];

impl Workload {
    /// Writes a workspace of Bazel. Each round has outputs of its own.
    pub(crate) fn write(&self, bazel: &Bazel, round: usize) {
        let mut rules = String::new();
        for action in 0..self.actions {
            let _ = writeln!(
                rules,
                "genrule(name = \"make_{action}\", outs = [\"{action}\"], \
                 cmd = \"(yes {round} {action} || :) | head -c {} > $@\")",
                self.bytes
            );
        }
        let all: Vec<_> = (0..self.actions)
            .map(|action| format!("make_{action}"))
            .collect();
        let _ = writeln!(rules, "filegroup(name = \"all_of_them\", srcs = {all:?})");
        fs::write(bazel.workspace().join("BUILD"), rules).unwrap();
        fs::write(bazel.workspace().join("WORKSPACE"), "").unwrap();
    }
}

/// A cache that was just started; `None` for no cache at all.
pub(crate) enum Cache {
    None,
    Nginx(Nginx),
    Http(Farm),
    Grpc(Farm),
}

type Start = fn() -> Option<Cache>;

const CACHES: [(&str, Start); 4] = [
    ("none", || Some(Cache::None)),
    ("nginx", || Nginx::start().map(Cache::Nginx)),
    ("http", || Some(Cache::Http(Farm::start(&[])))),
    ("grpc", || Some(Cache::Grpc(Farm::start(&[])))),
];

impl Cache {
    fn option(&self) -> String {
        match self {
            Self::None => "--remote_cache=".into(),
            Self::Nginx(nginx) => format!("--remote_cache=http://127.0.0.1:{}", nginx.port),
            Self::Http(farm) => format!("--remote_cache=http://{}", farm.address),
            Self::Grpc(farm) => format!("--remote_cache=grpc://{}", farm.address),
        }
    }

    fn process(&self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Nginx(nginx) => Some(nginx.process()),
            Self::Http(farm) | Self::Grpc(farm) => Some(farm.process()),
        }
    }
}

/// The cost of a build.
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// The processor time of Bazel and of the cache.
    pub(crate) busy: [Duration; 2],
}

/// Builds everything from nothing. `kind` is the way that each action must go.
pub(crate) fn build(bazel: &Bazel, workload: &Workload, cache: &Cache, kind: &str) -> Cost {
    let option = cache.option();
    let options = [
        &*option,
        "--spawn_strategy=local",
        "--genrule_strategy=local",
    ];
    bazel.clean();
    // So that the time does not include reading the rules.
    let analysed = bazel.build("//:all_of_them", &[&options[..], &["--nobuild"]].concat());
    assert!(analysed.status.success(), "{}", analysed.log);
    let busy = || {
        let processes = [Some(bazel.process()), cache.process()];
        processes.map(|process| process.map_or(Duration::ZERO, |id| cpu_time(id).unwrap()))
    };
    let (start, before) = (Instant::now(), busy());
    let build = bazel.build("//:all_of_them", &options);
    let (time, after) = (start.elapsed(), busy());
    build.assert_all(kind, workload.actions);
    Cost {
        time,
        busy: [after[0] - before[0], after[1] - before[1]],
    }
}

/// The two builds of a round: one runs all actions here and stores them, one loads them.
struct Costs {
    store: Cost,
    load: Option<Cost>,
}

fn round(bazel: &Bazel, workload: &Workload, cache: &Cache) -> Costs {
    let store = build(bazel, workload, cache, "local");
    let load = match cache {
        Cache::None => None,
        _ => Some(build(bazel, workload, cache, "remote cache hit")),
    };
    Costs { store, load }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let Some(bazel) = Bazel::find() else { return };
    for workload in &WORKLOADS {
        let mut costs: [Vec<Costs>; CACHES.len()] = Default::default();
        // The first round warms Bazel up.
        for number in 0..=ROUNDS {
            workload.write(&bazel, number);
            for turn in 0..CACHES.len() {
                let turn = (turn + number) % CACHES.len();
                let (_, start) = CACHES[turn];
                let Some(cache) = start() else { return };
                let cost = round(&bazel, workload, &cache);
                if number > 0 {
                    costs[turn].push(cost);
                }
            }
        }
        println!(
            "{} actions, each with a file of {}; actions per second",
            workload.actions, workload.name
        );
        print(workload, "run and store", &costs, |costs| {
            Some(&costs.store)
        });
        print(workload, "load", &costs, |costs| costs.load.as_ref());
    }
}

fn print(
    workload: &Workload,
    kind: &str,
    costs: &[Vec<Costs>; CACHES.len()],
    of: fn(&Costs) -> Option<&Cost>,
) {
    let rates = |costs: &[&Cost]| -> Vec<f64> {
        let times = costs.iter().map(|cost| cost.time.as_secs_f64());
        times.map(|time| workload.actions as f64 / time).collect()
    };
    let costs = costs
        .each_ref()
        .map(|costs| costs.iter().filter_map(of).collect::<Vec<_>>());
    let nginx = rates(&costs[1]);
    for ((name, _), costs) in CACHES.iter().zip(&costs) {
        if costs.is_empty() {
            continue;
        }
        let rates = rates(costs);
        let ratios = rates.iter().zip(&nginx).map(|(rate, nginx)| rate / nginx);
        let ratios = spread(ratios.collect());
        println!(
            "  {kind:14} {name:6} {}   of nginx: {ratios}",
            spread(rates)
        );
        println!("    busy: {}", busy(costs));
    }
}

/// Writes the processor time, in seconds.
pub(crate) fn busy(costs: &[&Cost]) -> String {
    let seconds = |of: usize| {
        let costs = costs.iter();
        spread(costs.map(|cost| cost.busy[of].as_secs_f64()).collect())
    };
    format!("Bazel {} s, the cache {} s", seconds(0), seconds(1))
}

/// Writes the median, the least and the greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let [first, .., last] = &values[..] else {
        return format!("{values:?}");
    };
    format!("{:7.2} ({first:.2} to {last:.2})", values[values.len() / 2])
}
