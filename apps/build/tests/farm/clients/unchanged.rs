//! The limits of a build in which nothing has changed since another machine built it.
//!
//! ```sh
//! cargo test --release -p filch-build --test clients -- --ignored --nocapture unchanged
//! ```

use crate::bazel::Bazel;
use crate::farm::Farm;
use crate::speed::{Cache, Workload, build, busy, spread};

const ROUNDS: usize = 3;

const WORKLOAD: Workload = Workload {
    name: "16 bytes",
    actions: 10_000,
    bytes: 16,
};

#[test]
#[ignore = "a measurement"]
fn unchanged() {
    let Some(bazel) = Bazel::find() else { return };
    for (protocol, cache) in [
        ("http", Cache::Http as fn(Farm) -> _),
        ("grpc", Cache::Grpc),
    ] {
        let cache = cache(Farm::start(&[]));
        WORKLOAD.write(&bazel, 0);
        build(&bazel, &WORKLOAD, &cache, "local");
        let costs: Vec<_> = (0..ROUNDS)
            .map(|_| build(&bazel, &WORKLOAD, &cache, "remote cache hit"))
            .collect();
        let rates = costs
            .iter()
            .map(|cost| WORKLOAD.actions as f64 / cost.time.as_secs_f64());
        println!("{protocol}: {} actions a second", spread(rates.collect()));
        println!("  busy: {}", busy(&costs.iter().collect::<Vec<_>>()));
    }
}
