//! How fast Bazel is with a cache: with the farm's, and with nginx, the simplest one that there is.
//!
//! ```sh
//! cargo test --release -p filch-build --test clients -- --ignored --nocapture speed
//! ```

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use crate::bazel::Bazel;
use crate::farm::Farm;
use crate::nginx::Nginx;

const ROUNDS: usize = 5;

/// A build of that many actions, each of which writes a file of that many bytes.
struct Workload {
    name: &'static str,
    actions: usize,
    bytes: usize,
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
    /// Writes a workspace of Bazel. Each round's outputs are its own.
    fn write(&self, bazel: &Bazel, round: usize) {
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

/// A cache that has just been started; `None` for no cache at all.
enum Cache {
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
}

/// How long the two builds of a round took: all actions run here and are stored; all are loaded.
struct Times {
    store: Duration,
    load: Option<Duration>,
}

fn round(bazel: &Bazel, workload: &Workload, cache: &Cache) -> Times {
    let option = cache.option();
    let options = [
        &*option,
        "--spawn_strategy=local",
        "--genrule_strategy=local",
    ];
    let build = |kind: &str| {
        bazel.clean();
        // So that the time is not that of reading the rules.
        let analysed = bazel.build("//:all_of_them", &[&options[..], &["--nobuild"]].concat());
        assert!(analysed.status.success(), "{}", analysed.log);
        let start = Instant::now();
        let build = bazel.build("//:all_of_them", &options);
        let time = start.elapsed();
        build.assert_all(kind, workload.actions);
        time
    };
    let store = build("local");
    let load = match cache {
        Cache::None => None,
        _ => Some(build("remote cache hit")),
    };
    Times { store, load }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let Some(bazel) = Bazel::find() else { return };
    for workload in &WORKLOADS {
        let mut times: [Vec<Times>; CACHES.len()] = Default::default();
        // The first round warms Bazel up.
        for number in 0..=ROUNDS {
            workload.write(&bazel, number);
            for turn in 0..CACHES.len() {
                let turn = (turn + number) % CACHES.len();
                let (_, start) = CACHES[turn];
                let Some(cache) = start() else { return };
                let time = round(&bazel, workload, &cache);
                if number > 0 {
                    times[turn].push(time);
                }
            }
        }
        print(workload, &times);
    }
}

fn print(workload: &Workload, times: &[Vec<Times>]) {
    let rates = |cache: &[Times], time: fn(&Times) -> Option<Duration>| -> Vec<f64> {
        let times = cache.iter().filter_map(time);
        times
            .map(|time| workload.actions as f64 / time.as_secs_f64())
            .collect()
    };
    println!(
        "{} actions, each with a file of {}; actions per second",
        workload.actions, workload.name
    );
    type TimeOf = fn(&Times) -> Option<Duration>;
    let kinds: [(&str, TimeOf); 2] = [
        ("run and store", |times| Some(times.store)),
        ("load", |times| times.load),
    ];
    for (kind, time) in kinds {
        let nginx = rates(&times[1], time);
        for ((name, _), cache) in CACHES.iter().zip(times) {
            let rates = rates(cache, time);
            if rates.is_empty() {
                continue;
            }
            let ratios = rates
                .iter()
                .zip(&nginx)
                .map(|(rate, nginx)| rate / nginx)
                .collect();
            println!(
                "  {kind:14} {name:6} {}   of nginx: {}",
                spread(rates),
                spread(ratios)
            );
        }
    }
}

/// The median, the least and the greatest.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let [first, .., last] = &values[..] else {
        return format!("{values:?}");
    };
    format!("{:7.2} ({first:.2} to {last:.2})", values[values.len() / 2])
}
