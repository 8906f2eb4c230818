//! The machines: what each has in its cache, and how long it takes to fetch the rest.

use super::cache::Cache;
use super::graph::{Graph, Job, Time};

/// The number of a worker.
pub(super) type Worker = u32;

/// How a worker gets an input that it does not have. All links are alike, and none slows another
/// one down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    /// Of each input, in seconds.
    pub(crate) latency: f64,
    /// In bytes a second.
    pub(crate) bandwidth: f64,
}

impl Link {
    /// Seconds to fetch so many inputs of so many bytes, one after the other.
    pub(super) fn seconds(self, inputs: u64, bytes: u64) -> f64 {
        inputs as f64 * self.latency + bytes as f64 / self.bandwidth
    }

    /// A link on which everything takes that many times as long; zero: no time at all.
    pub(super) fn slower(self, times: f64) -> Self {
        Self {
            latency: self.latency * times,
            bandwidth: self.bandwidth / times,
        }
    }
}

/// Inputs of a job, or of all: how many there are, and how many bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) inputs: u64,
    pub(super) bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.bytes += other.bytes;
    }
}

/// The workers of a farm, and what each has.
#[derive(Debug)]
pub(super) struct Farm<'g> {
    graph: &'g Graph,
    link: Link,
    caches: Vec<Cache>,
}

impl<'g> Farm<'g> {
    /// With empty caches of that many bytes; `None`: without a limit.
    pub(super) fn new(graph: &'g Graph, workers: u32, link: Link, limit: Option<u64>) -> Self {
        Self {
            graph,
            link,
            caches: vec![Cache::new(limit); workers as usize],
        }
    }

    pub(super) fn graph(&self) -> &'g Graph {
        self.graph
    }

    pub(super) fn workers(&self) -> u32 {
        self.caches.len() as u32
    }

    pub(super) fn holds(&self, worker: Worker, artifact: Job) -> bool {
        self.caches[worker as usize].has(artifact)
    }

    /// The worker begins the job: what it must fetch, and how long it is busy. If it has the
    /// result, it has nothing to do.
    pub(super) fn begin(&mut self, worker: Worker, job: Job) -> (Amount, Time) {
        let mut missing = Amount::default();
        if self.holds(worker, job) {
            return (missing, 0);
        }
        let cache = &mut self.caches[worker as usize];
        for &input in self.graph.inputs(job) {
            if cache.has(input) {
                cache.touch(input);
            } else {
                missing.inputs += 1;
                missing.bytes += self.graph.size(input);
            }
        }
        let transfer = self.link.seconds(missing.inputs, missing.bytes) * 1e9;
        let busy = (transfer.round() as Time).saturating_add(self.graph.run(job));
        (missing, busy)
    }

    /// The worker has made or fetched the artifact. Whether it is new in its cache, and what has
    /// gone to make room: see [`Cache::insert`].
    pub(super) fn insert(&mut self, worker: Worker, artifact: Job, gone: &mut Vec<Job>) -> bool {
        let size = self.graph.size(artifact);
        self.caches[worker as usize].insert(artifact, size, gone)
    }
}
