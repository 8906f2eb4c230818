//! The result, for people.

use std::fmt;
use std::time::Duration;

use filch::build_scheduler::Config;

use super::figures::Figures;
use super::graph::{Bounds, Shape, Time};
use super::simulation::Setup;
use crate::columns::table;

/// The simulated build, and the outcome of each policy.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) shape: Shape,
    pub(super) setup: Setup,
    pub(super) waits: Config,
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
        let (shape, setup) = (&self.shape, &self.setup);
        let (jobs, layers, seed) = (shape.jobs, shape.layers, shape.seed);
        let (inputs, ratio, link) = (self.inputs, self.ratio, setup.link);
        let graph = format!("{jobs} jobs in {layers} layers, {inputs:.2} inputs each, seed {seed}");
        let (workers, slots) = (setup.workers, setup.slots);
        let (rate, each) = (link.bandwidth / 1e6, link.latency * 1e3);
        let link = format!("{rate:.1} MB/s, and {each:.2} ms for each input");
        let wait = |time: Duration| match time {
            Duration::MAX => "no end".to_owned(),
            time => format!("{} s", time.as_secs_f64()),
        };
        let [cache, deps] = [self.waits.cache_timeout, self.waits.deps_timeout].map(wait);
        let Bounds { work, chain } = self.bounds;
        let [least, work, chain] = [work.max(chain), work, chain].map(seconds);
        let bound = format!("{least:.3} s: work {work:.3} s, critical path {chain:.3} s");
        let lines = [
            ("graph", graph),
            ("farm", format!("{workers} workers, jobs at a time {slots}")),
            ("link", link),
            ("transfer/run", format!("{ratio:.3}, if nothing is there")),
            ("timeouts", format!("cache {cache}, deps {deps}")),
            ("lower bound", bound),
        ];
        let mut lines = lines.iter();
        lines.try_for_each(|(name, text)| writeln!(f, "{name:16}{text}"))
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
        let shares = self.policies.iter().flat_map(|it| it.shares.clone());
        let mut shares = shares.peekable();
        if shares.peek().is_some() {
            let heads = ["policy", "jobs of", "makespan", "wait p50", "p99", "CPUs"];
            write!(f, "\n{}", table(heads, shares))?;
        }
        if self.policies.iter().any(|figures| figures.results_used > 0) {
            write!(f, "\n{}", self.results_used())?;
        }
        write!(f, "\n{}", self.speed())
    }
}
