//! Metrics for Prometheus: counters and gauges of the farm, and the durations of requests.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::farm::{Snapshot, Times};
use crate::storage::{Counters, Limits, Usage};

/// The media type of what [`Metrics::encode`] writes.
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const PREFIX: &str = "filch_build";

/// One label and its value.
type Label = [(&'static str, String); 1];

/// The counts that last from one scrape to the next. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<Label, Histogram, fn() -> Histogram>,
}

impl Metrics {
    pub(super) fn new(storage: &Counters, actions: Times) -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let requests: Family<_, _, fn() -> Histogram> = Family::new_with_constructor(durations);
        registry.register(
            "request_duration_seconds",
            "How long a request takes until its answer begins",
            requests.clone(),
        );
        let times = [
            (
                "queue",
                "How long an action waits for a worker",
                actions.waited,
            ),
            ("run", "How long a worker has an action", actions.ran),
        ];
        for (name, help, histogram) in times {
            registry.register(format!("action_{name}_seconds"), help, histogram);
        }
        register(&mut registry, storage);
        let registry = Arc::new(registry);
        Self { registry, requests }
    }

    /// Writes all metrics as text. `usage` is that of the storage, if it is known.
    pub(super) fn encode(
        &self,
        farm: &Snapshot,
        usage: Option<Usage>,
        limits: Limits,
    ) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &of_the_moment(farm, usage, limits))?;
        encode_eof(&mut text)?;
        Ok(text)
    }

    pub(super) fn observe(&self, method: &str, duration: Duration) {
        let requests = self.requests.get_or_create(&label("method", method));
        requests.observe(duration.as_secs_f64());
    }
}

/// Measures a request: a layer of the router.
pub(super) async fn measure(
    State(metrics): State<Metrics>,
    request: Request,
    next: Next,
) -> Response {
    let method = method(request.method().as_str(), request.uri().path());
    let start = Instant::now();
    let response = next.run(request).await;
    metrics.observe(&method, start.elapsed());
    response
}

/// Makes a histogram from a tenth of a millisecond to 26 seconds.
fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 4.0, 10))
}

/// The methods that are counted separately. Clients may send any name, so all others count as one:
/// else a label would have any number of values.
const METHODS: &[&str] = &[
    "build.bazel.remote.execution.v2.ActionCache/GetActionResult",
    "build.bazel.remote.execution.v2.ActionCache/UpdateActionResult",
    "build.bazel.remote.execution.v2.Capabilities/GetCapabilities",
    "build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs",
    "build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
    "build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
    "build.bazel.remote.execution.v2.ContentAddressableStorage/GetTree",
    "build.bazel.remote.execution.v2.Execution/Execute",
    "build.bazel.remote.execution.v2.Execution/WaitExecution",
    "filch.build.v1.Farm/Work",
    "google.bytestream.ByteStream/QueryWriteStatus",
    "google.bytestream.ByteStream/Read",
    "google.bytestream.ByteStream/Write",
];

/// Names the method of a request: `GetActionResult` of gRPC, `GET /ac` of HTTP.
pub(super) fn method(verb: &str, path: &str) -> String {
    let path = path.trim_start_matches('/');
    if let Some(known) = METHODS.iter().find(|known| **known == path) {
        return known.rsplit('/').next().unwrap_or(known).to_owned();
    }
    let verb = ["GET", "HEAD", "PUT"]
        .into_iter()
        .find(|known| *known == verb);
    let first = path.split('/').next().unwrap_or_default();
    let place = ["ac", "cas", "metrics", "status"]
        .into_iter()
        .find(|known| *known == first);
    match (verb, place) {
        (Some(verb), Some(place)) => format!("{verb} /{place}"),
        _ => "other".to_owned(),
    }
}

/// Registers the counters of the storage.
fn register(registry: &mut Registry, storage: &Counters) {
    let counters = [
        (
            "blob_hits",
            "Blobs asked for that were there",
            &storage.blob_hits,
        ),
        (
            "blob_misses",
            "Blobs asked for that were not there",
            &storage.blob_misses,
        ),
        (
            "blobs_written",
            "Blobs that were stored",
            &storage.blobs_written,
        ),
        (
            "corrupt_blobs",
            "Blobs that were not what they should be when read",
            &storage.corrupt,
        ),
        (
            "result_hits",
            "Results asked for that were there",
            &storage.result_hits,
        ),
        (
            "result_misses",
            "Results asked for that were not there",
            &storage.result_misses,
        ),
    ];
    for (name, help, counter) in counters {
        registry.register(name, help, counter.clone());
    }
    let bytes = [
        (
            "written",
            "Bytes of blobs that were stored",
            &storage.bytes_written,
        ),
        ("read", "Bytes of blobs that were read", &storage.bytes_read),
    ];
    for (name, help, counter) in bytes {
        registry.register_with_unit(name, help, Unit::Bytes, counter.clone());
    }
}

/// Makes the gauges and counters of a snapshot.
fn of_the_moment(farm: &Snapshot, usage: Option<Usage>, limits: Limits) -> Registry {
    let mut registry = Registry::with_prefix(PREFIX);
    if let Some(Usage { entries, bytes }) = usage {
        let entries = ConstGauge::new(gauge(entries));
        registry.register(
            "stored_entries",
            "Blobs and results that are stored",
            entries,
        );
        let bytes = ConstGauge::new(i64::try_from(bytes).unwrap_or(i64::MAX));
        registry.register_with_unit("stored", "What is stored", Unit::Bytes, bytes);
        let limit = ConstGauge::new(i64::try_from(limits.disk).unwrap_or(i64::MAX));
        let help = "The most that is stored on a disk";
        registry.register_with_unit("stored_limit", help, Unit::Bytes, limit);
    }
    let actions: Family<Label, Counter> = Family::default();
    let outcomes = [
        ("cached", farm.actions.cached),
        ("succeeded", farm.actions.succeeded),
        ("failed", farm.actions.failed),
    ];
    for (outcome, count) in outcomes {
        actions
            .get_or_create(&label("outcome", outcome))
            .inc_by(count);
    }
    registry.register("actions", "Actions that ended, by how they did", actions);
    registry.register(
        "actions_retried",
        "Runs that another one had to replace",
        ConstCounter::new(farm.actions.retried),
    );
    registry.register(
        "actions_waiting",
        "Actions that wait for a worker",
        ConstGauge::new(gauge(farm.waiting)),
    );
    registry.register(
        "workers",
        "Workers that are there",
        ConstGauge::new(gauge(farm.workers.len())),
    );
    registry.register(
        "platforms_without_workers",
        "Platforms that are expected, or were here a moment ago, and have no worker",
        ConstGauge::new(gauge(farm.absent.len())),
    );
    let slots: Family<Label, Gauge> = Family::default();
    let running: Family<Label, Gauge> = Family::default();
    let blobs: Family<Label, Gauge> = Family::default();
    for worker in &farm.workers {
        let name = label("worker", &worker.name);
        // Two workers may have the same name.
        slots.get_or_create(&name).inc_by(gauge(worker.slots));
        running
            .get_or_create(&name)
            .inc_by(gauge(worker.running.len()));
        blobs.get_or_create(&name).inc_by(gauge(worker.blobs));
    }
    registry.register(
        "worker_slots",
        "How many actions a worker runs at a time",
        slots,
    );
    registry.register(
        "worker_running_actions",
        "Actions that a worker runs",
        running,
    );
    registry.register("worker_blobs", "Blobs that a worker has", blobs);
    registry
}

fn label(name: &'static str, value: &str) -> Label {
    [(name, value.to_owned())]
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
