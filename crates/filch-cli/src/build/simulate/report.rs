//! The result, for people.

use std::fmt;
use std::path::PathBuf;

use super::figures::Figures;
use super::graph::{Bounds, Shape, Time};
use super::policy::{Kind, Timeouts};
use super::simulation::Setup;
use super::sweep::Sweep;
use crate::columns::Columns;

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
    pub(super) sweeps: Option<Sweeps>,
}

/// The additional data of the plots.
#[derive(Debug)]
pub(super) struct Sweeps {
    pub(super) ratios: Sweep,
    pub(super) timeouts: Sweep,
    pub(super) files: Vec<PathBuf>,
}

fn seconds(time: Time) -> f64 {
    time as f64 / 1e9
}

impl Report {
    /// Returns the report, with tables of at most that many columns.
    pub(crate) fn within(&self, width: usize) -> Printed<'_> {
        Printed {
            report: self,
            width,
        }
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, setup, .. } = self;
        writeln!(
            f,
            "graph           {} jobs in {} layers, {:.2} inputs each, seed {}",
            shape.jobs, shape.layers, self.inputs, shape.seed
        )?;
        let limit = match setup.cache_limit {
            Some(bytes) => format!("{:.0} MB", bytes as f64 / 1e6),
            None => "without a limit".to_owned(),
        };
        writeln!(
            f,
            "farm            {} workers, jobs at a time {}, caches {limit}",
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

    fn builds(&self, width: usize) -> String {
        let heads = ["policy", "makespan", "/bound", "hits", "bytes", "moved"];
        let mut table = Columns::new(heads);
        for figures in &self.policies {
            let makespan = seconds(figures.makespan);
            let (inputs, bytes) = figures.local_hits();
            table.row([
                figures.kind.to_string(),
                format!("{makespan:.3} s"),
                format!("{:.3}", makespan / seconds(self.bounds.least())),
                format!("{inputs:.1} %"),
                format!("{bytes:.1} %"),
                format!("{:.3} TB", figures.moved.bytes as f64 / 1e12),
            ]);
        }
        table.within(width)
    }

    /// Returns the table of the times that jobs waited, from being ready to their start.
    fn waits(&self, width: usize) -> String {
        let mut table = Columns::new(["policy", "wait p50", "p99", "max"]);
        for figures in &self.policies {
            let waits = &figures.waits;
            let waits = [waits.p50, waits.p99, waits.max];
            let waits = waits.map(|wait| format!("{:.3} s", seconds(wait)));
            table.row([figures.kind.to_string()].into_iter().chain(waits));
        }
        table.within(width)
    }

    fn results_used(&self, width: usize) -> String {
        let mut table = Columns::new(["policy", "results used again"]);
        for figures in &self.policies {
            table.row([figures.kind.to_string(), figures.results_used.to_string()]);
        }
        table.within(width)
    }

    /// Returns the table of the real time of each simulation, on a thread beside others: the one
    /// part that the seed does not decide.
    fn speed(&self, width: usize) -> String {
        let mut table = Columns::new(["policy", "simulated in", "events", "a second"]);
        for figures in &self.policies {
            let took = figures.took.as_secs_f64();
            table.row([
                figures.kind.to_string(),
                format!("{took:.2} s"),
                figures.events.to_string(),
                format!("{:.0}", figures.events as f64 / took),
            ]);
        }
        table.within(width)
    }
}

impl Sweeps {
    fn write(&self, least: f64, width: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", sweep("ratio", &self.ratios, least, width))?;
        writeln!(f, "{}", sweep("deps timeout", &self.timeouts, least, width))?;
        writeln!(f, "{}", Verdict(&self.ratios))?;
        for file in &self.files {
            writeln!(f, "plot            {}", file.display())?;
        }
        Ok(())
    }
}

/// Returns the makespans, in lower bounds, with the local hits by bytes in brackets.
fn sweep(what: &str, sweep: &Sweep, least: f64, width: usize) -> String {
    let kinds = sweep.lines.iter().map(|line| line.kind.to_string());
    let mut table = Columns::new([what.to_owned()].into_iter().chain(kinds));
    for (row, at) in sweep.at.iter().enumerate() {
        let cells = sweep.lines.iter().map(|line| {
            let (makespan, local) = (line.makespans[row] as f64 / least, line.local[row]);
            format!("{makespan:.3} ({local:2.0} %)")
        });
        table.row([at.to_string()].into_iter().chain(cells));
    }
    table.within(width)
}

/// The ratios for which the heuristic pays, and those for which it costs.
#[derive(Debug)]
struct Verdict<'a>(&'a Sweep);

/// The factor of the least difference: one per cent.
const DIFFERENCE: f64 = 0.99;

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(sweep) = self;
        let list = |ranges: Vec<(f64, f64)>| {
            let range = |(from, to): (f64, f64)| match from == to {
                true => format!("{from}"),
                false => format!("{from} to {to}"),
            };
            let ranges: Vec<_> = ranges.into_iter().map(range).collect();
            ranges.join(", or ")
        };
        let pays = list(sweep.ranges(Kind::Filch, Kind::Fifo, DIFFERENCE));
        let costs = list(sweep.ranges(Kind::Fifo, Kind::Filch, DIFFERENCE));
        let swept = match (sweep.at.first(), sweep.at.last()) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            _ => return Ok(()),
        };
        if pays.is_empty() {
            write!(f, "The heuristic pays for no ratio.")?;
        } else {
            write!(
                f,
                "The heuristic pays when the transfer of a job's inputs takes {pays} times its \
                 run time."
            )?;
        }
        if costs.is_empty() {
            write!(f, " It is nowhere slower than plain FIFO.")?;
        } else {
            write!(f, " It is slower than plain FIFO at {costs}.")?;
        }
        write!(
            f,
            "\n(Ratios from {swept} were simulated; what differs by less than 1 % is equal.)"
        )
    }
}

/// A [`Report`] to print.
#[derive(Debug)]
pub(crate) struct Printed<'report> {
    report: &'report Report,
    width: usize,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, width } = *self;
        report.head(f)?;
        write!(f, "\n{}\n{}", report.builds(width), report.waits(width))?;
        if report
            .policies
            .iter()
            .any(|figures| figures.results_used > 0)
        {
            write!(f, "\n{}", report.results_used(width))?;
        }
        if let Some(sweeps) = &report.sweeps {
            sweeps.write(report.bounds.least() as f64, width, f)?;
        }
        write!(f, "\n{}", report.speed(width))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Sweep, Verdict};
    use crate::build::simulate::sweep::Line;

    #[test]
    fn a_verdict_says_where_it_pays_and_where_it_does_not() {
        let verdict = |own: [u64; 4]| {
            let line = |kind, makespans: [u64; 4]| Line {
                kind,
                makespans: makespans.to_vec(),
                local: vec![0.0; 4],
            };
            let lines = vec![line(Kind::Filch, own), line(Kind::Fifo, [1_000; 4])];
            let at = vec![0.1, 0.5, 1.0, 2.0];
            let verdict = Verdict(&Sweep { at, lines }).to_string();
            verdict.lines().next().unwrap().to_owned()
        };
        assert_eq!(
            verdict([1_100, 995, 980, 900]),
            "The heuristic pays when the transfer of a job's inputs takes 1 to 2 times its run \
             time. It is slower than plain FIFO at 0.1."
        );
        assert_eq!(
            verdict([1_000, 995, 991, 1_005]),
            "The heuristic pays for no ratio. It is nowhere slower than plain FIFO."
        );
    }
}
