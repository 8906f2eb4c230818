//! The result, for people.

use std::fmt;
use std::path::PathBuf;

use super::figures::Figures;
use super::graph::{Bounds, Shape, Time};
use super::policy::{Kind, Timeouts};
use super::simulation::Setup;
use super::sweep::Sweep;

/// What was simulated, and what each policy came to.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) shape: Shape,
    pub(super) setup: Setup,
    pub(super) timeouts: Timeouts,
    /// Inputs a job, on average.
    pub(super) inputs: f64,
    /// Transfer of all inputs to run time.
    pub(super) ratio: f64,
    pub(super) bounds: Bounds,
    pub(super) policies: Vec<Figures>,
    pub(super) sweeps: Option<Sweeps>,
}

/// What the plots show besides.
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

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n{:<13}{:>12}{:>9}{:>8}{:>8}{:>10}{:>11}{:>11}{:>11}",
            "policy", "makespan", "/bound", "hits", "bytes", "moved", "wait p50", "p99", "max"
        )?;
        for figures in &self.policies {
            let makespan = seconds(figures.makespan);
            let (inputs, bytes) = figures.local_hits();
            let waits = &figures.waits;
            writeln!(
                f,
                "{:<13}{:>10.3} s{:>9.3}{:>6.1} %{:>6.1} %{:>7.3} TB{:>9.3} s{:>9.3} s{:>9.3} s",
                figures.kind,
                makespan,
                makespan / seconds(self.bounds.least()),
                inputs,
                bytes,
                figures.moved.bytes as f64 / 1e12,
                seconds(waits.p50),
                seconds(waits.p99),
                seconds(waits.max)
            )?;
        }
        if self.policies.iter().any(|figures| figures.results_used > 0) {
            writeln!(f, "\n{:<13}{:>22}", "policy", "results used again")?;
            for figures in &self.policies {
                writeln!(f, "{:<13}{:>22}", figures.kind, figures.results_used)?;
            }
        }
        Ok(())
    }

    /// How long each simulation took, on a thread of its own beside others: the one part that the
    /// seed does not decide.
    fn speed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = ("policy", "simulated in", "events", "a second");
        let (policy, took, events, rate) = columns;
        writeln!(f, "\n{policy:<13}{took:>14}{events:>12}{rate:>12}")?;
        for figures in &self.policies {
            let took = figures.took.as_secs_f64();
            let (kind, events) = (figures.kind, figures.events);
            let rate = events as f64 / took;
            writeln!(f, "{kind:<13}{took:>12.2} s{events:>12}{rate:>12.0}")?;
        }
        Ok(())
    }
}

impl Sweeps {
    fn write(&self, least: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sweep("transfer/run", &self.ratios, least, f)?;
        write_sweep("deps timeout", &self.timeouts, least, f)?;
        writeln!(f, "\n{}", Verdict(&self.ratios))?;
        for file in &self.files {
            writeln!(f, "plot            {}", file.display())?;
        }
        Ok(())
    }
}

/// Makespans, in lower bounds; in brackets the local hits by bytes.
fn write_sweep(what: &str, sweep: &Sweep, least: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "\n{what:<13}")?;
    for line in &sweep.lines {
        write!(f, "{:>17}", line.kind.to_string())?;
    }
    for (row, at) in sweep.at.iter().enumerate() {
        write!(f, "\n{at:<13}")?;
        for line in &sweep.lines {
            let (makespan, local) = (line.makespans[row] as f64 / least, line.local[row]);
            write!(f, "{makespan:>9.3} ({local:3.0} %)")?;
        }
    }
    writeln!(f)
}

/// For which ratios the heuristic pays, and for which it costs.
#[derive(Debug)]
struct Verdict<'a>(&'a Sweep);

/// One per cent is a difference.
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.table(f)?;
        if let Some(sweeps) = &self.sweeps {
            sweeps.write(self.bounds.least() as f64, f)?;
        }
        self.speed(f)
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
