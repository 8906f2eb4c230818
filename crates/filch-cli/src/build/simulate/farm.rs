//! The machines: the cache of each, and the time to fetch missing inputs.

use super::graph::{Graph, Job, Time};

/// The number of a worker.
pub(super) type Worker = u32;

/// The link by which a worker fetches missing inputs. All links are alike, and none slows down
/// another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    /// The time of each input, in seconds, besides its bytes.
    pub(crate) latency: f64,
    /// Bytes a second.
    pub(crate) bandwidth: f64,
}

impl Link {
    /// Returns the seconds to fetch these inputs, of `bytes` in all, one after the other.
    pub(super) fn seconds(self, inputs: u64, bytes: u64) -> f64 {
        inputs as f64 * self.latency + bytes as f64 / self.bandwidth
    }

    /// Returns a link on which everything takes that many times as long; zero: no time at all.
    pub(super) fn slower(self, times: f64) -> Self {
        Self {
            latency: self.latency * times,
            bandwidth: self.bandwidth / times,
        }
    }
}

/// Inputs of a job, or of all: their number and their bytes.
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

/// The workers of a farm. The cache of each keeps all that it has made or fetched.
#[derive(Debug)]
pub(super) struct Farm<'g> {
    graph: &'g Graph,
    link: Link,
    workers: u32,
    /// The workers that have each artifact, in their order.
    holders: Vec<Vec<Worker>>,
}

impl<'g> Farm<'g> {
    /// Makes a farm with empty caches.
    pub(super) fn new(graph: &'g Graph, workers: u32, link: Link) -> Self {
        Self {
            graph,
            link,
            workers,
            holders: vec![Vec::new(); graph.jobs() as usize],
        }
    }

    pub(super) fn graph(&self) -> &'g Graph {
        self.graph
    }

    pub(super) fn workers(&self) -> u32 {
        self.workers
    }

    fn holds(&self, worker: Worker, artifact: Job) -> bool {
        let holders = &self.holders[artifact as usize];
        holders.binary_search(&worker).is_ok()
    }

    /// Begins the job on the worker. Returns the inputs to fetch, and the time that the worker is
    /// busy; `None` if it has the result.
    pub(super) fn begin(&self, worker: Worker, job: Job) -> Option<(Amount, Time)> {
        if self.holds(worker, job) {
            return None;
        }
        let mut missing = Amount::default();
        for &input in self.graph.inputs(job) {
            if !self.holds(worker, input) {
                missing.inputs += 1;
                missing.bytes += self.graph.size(input);
            }
        }
        let transfer = self.link.seconds(missing.inputs, missing.bytes) * 1e9;
        let busy = (transfer.round() as Time).saturating_add(self.graph.run(job));
        Some((missing, busy))
    }

    /// Adds an artifact that the worker has made or fetched. Returns whether it is new there.
    pub(super) fn insert(&mut self, worker: Worker, artifact: Job) -> bool {
        let holders = &mut self.holders[artifact as usize];
        let place = holders.binary_search(&worker);
        if let Err(place) = place {
            holders.insert(place, worker);
        }
        place.is_err()
    }
}
