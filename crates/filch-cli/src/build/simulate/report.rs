//! The result, for people.

use std::fmt;

use super::figures::Figures;
use super::graph::{Bounds, Shape, Time};
use super::policy::Timeouts;
use super::simulation::Setup;
use crate::columns::table;

/// The simulated build, and the outcome of each policy.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) shape: Shape,
    pub(super) setup: Setup,
    pub(super) timeouts: Timeouts,
    /// Inputs a job, on average.
    pub(super) inputs: f64,
    /// The ratio of the transfer of all inputs to the run time.
    pub(super) ratio: f64,
    pub(super) bounds: Bounds,
    pub(super) policies: Vec<Figures>,
}

fn seconds(time: Time) -> f64 {
    time as f64 / 1e9
}

impl Report {
    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, setup, .. } = self;
        writeln!(
            f,
            "graph           {} jobs in {} layers, {:.2} inputs each, seed {}",
            shape.jobs, shape.layers, self.inputs, shape.seed
        )?;
        writeln!(
            f,
            "farm            {} workers, jobs at a time {}",
            setup.workers, setup.slots
        )?;
        writeln!(
            f,
            "link            {:.1} MB/s, and {:.2} ms for each input",
            setup.link.bandwidth / 1e6,
            setup.link.latency * 1e3
        )?;
        writeln!(f, "transfer/run    {:.3}, if nothing is there", self.ratio)?;
        let wait = |timeout: Option<std::time::Duration>| match timeout {
            Some(time) => format!("{} s", time.as_secs_f64()),
            None => "no end".to_owned(),
        };
        let (cache, deps) = (wait(self.timeouts.cache), wait(self.timeouts.deps));
        writeln!(f, "timeouts        cache {cache}, deps {deps}")?;
        writeln!(
            f,
            "lower bound     {:.3} s: work {:.3} s, critical path {:.3} s",
            seconds(self.bounds.least()),
            seconds(self.bounds.work),
            seconds(self.bounds.chain)
        )
    }

    fn builds(&self) -> String {
        let heads = ["policy", "makespan", "/bound", "hits", "bytes", "moved"];
        let row = |figures: &Figures| {
            let makespan = seconds(figures.makespan);
            let (inputs, bytes) = figures.local_hits();
            vec![
                figures.kind.to_string(),
                format!("{makespan:.3} s"),
                format!("{:.3}", makespan / seconds(self.bounds.least())),
                format!("{inputs:.1} %"),
                format!("{bytes:.1} %"),
                format!("{:.3} TB", figures.moved.bytes as f64 / 1e12),
            ]
        };
        table(heads, self.policies.iter().map(row))
    }

    /// Returns the table of the times that jobs waited, from being ready to their start.
    fn waits(&self) -> String {
        let row = |figures: &Figures| {
            let waits = &figures.waits;
            let waits = [waits.p50, waits.p99, waits.max];
            let waits = waits.map(|wait| format!("{:.3} s", seconds(wait)));
            [figures.kind.to_string()]
                .into_iter()
                .chain(waits)
                .collect()
        };
        let heads = ["policy", "wait p50", "p99", "max"];
        table(heads, self.policies.iter().map(row))
    }

    fn results_used(&self) -> String {
        let row =
            |figures: &Figures| vec![figures.kind.to_string(), figures.results_used.to_string()];
        table(
            ["policy", "results used again"],
            self.policies.iter().map(row),
        )
    }

    /// Returns the table of the real time of each simulation, on a thread beside others: the one
    /// part that the seed does not decide.
    fn speed(&self) -> String {
        let row = |figures: &Figures| {
            let took = figures.took.as_secs_f64();
            vec![
                figures.kind.to_string(),
                format!("{took:.2} s"),
                figures.events.to_string(),
                format!("{:.0}", figures.events as f64 / took),
            ]
        };
        let heads = ["policy", "simulated in", "events", "a second"];
        table(heads, self.policies.iter().map(row))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        write!(f, "\n{}\n{}", self.builds(), self.waits())?;
        if self.policies.iter().any(|figures| figures.results_used > 0) {
            write!(f, "\n{}", self.results_used())?;
        }
        write!(f, "\n{}", self.speed())
    }
}
