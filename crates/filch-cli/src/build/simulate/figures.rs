//! The outcome of one simulation, in a few figures.

use std::collections::BTreeMap;
use std::time::Duration;

use super::farm::Amount;
use super::graph::Time;
use super::policy::Kind;
use super::setting::{Setting, members};
use super::simulation::{Outcome, Record};
use crate::columns::cut;

/// The figures of one policy.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) kind: Kind,
    pub(super) makespan: Time,
    pub(super) moved: Amount,
    pub(super) needed: Amount,
    pub(super) results_used: u64,
    pub(super) waits: Waits,
    /// A row for each invocation and each pool of a farm.
    pub(super) shares: Vec<Vec<String>>,
    pub(super) events: u64,
    /// The real time that it took.
    pub(super) took: Duration,
}

impl Figures {
    pub(super) fn of(
        kind: Kind,
        outcome: &Outcome,
        farm: Option<&Setting>,
        took: Duration,
    ) -> Self {
        Self {
            kind,
            makespan: makespan(outcome),
            moved: outcome.moved,
            needed: outcome.needed,
            results_used: outcome.results_used,
            waits: Waits::of(&outcome.records),
            shares: farm.map_or(Vec::new(), |farm| shares(kind, farm, outcome)),
            events: outcome.events,
            took,
        }
    }

    /// Returns the share of inputs that were in the cache, and that of their bytes, in per cent.
    pub(super) fn local_hits(&self) -> (f64, f64) {
        let Self { moved, needed, .. } = self;
        let local = |moved: u64, needed: u64| match needed {
            0 => 100.0,
            _ => 100.0 * (needed - moved) as f64 / needed as f64,
        };
        (
            local(moved.inputs, needed.inputs),
            local(moved.bytes, needed.bytes),
        )
    }
}

/// Returns the rows: the policy and the name, the makespan, waits, and the part of CPUs in use.
fn shares(kind: Kind, farm: &Setting, outcome: &Outcome) -> Vec<Vec<String>> {
    let (workers, jobs) = (members(&farm.pools), members(&farm.invocations));
    let mut of = BTreeMap::<_, (u64, Vec<Record>)>::new();
    for pool in &farm.pools {
        of.entry(("pool", &*pool.name)).or_default();
    }
    for (record, job) in outcome.records.iter().zip(jobs) {
        let pool = workers[record.worker as usize];
        for whose in [("invocation", &*job.name), ("pool", &pool.name)] {
            let (busy, records) = of.entry(whose).or_default();
            *busy += (record.end - record.start) * job.cpus();
            records.push(*record);
        }
    }
    let row = |((what, name), (busy, records)): ((&str, &str), (u64, Vec<Record>))| {
        let own = workers
            .iter()
            .filter(|it| what != "pool" || it.name == name);
        let cpus: u64 = own.map(|it| it.cpus()).sum();
        let used = 100.0 * busy as f64 / (cpus * makespan(outcome).max(1)) as f64;
        let end = records.iter().map(|record| record.end).max();
        let waits = Waits::of(&records);
        let times = [end.unwrap_or(0), waits.p50, waits.p99];
        let name = cut(&format!("{what} {name}"), 22).into_owned();
        let mut row = vec![kind.to_string(), name];
        row.extend(times.map(|time| format!("{:.3} s", time as f64 / 1e9)));
        row.push(format!("{used:.1} %"));
        row
    };
    of.into_iter().map(row).collect()
}

/// Returns the end of the last job.
pub(super) fn makespan(outcome: &Outcome) -> Time {
    let ends = outcome.records.iter().map(|record| record.end);
    ends.max().unwrap_or(0)
}

/// The times that jobs waited from being ready to their start.
#[derive(Debug, Clone)]
pub(super) struct Waits {
    pub(super) p50: Time,
    pub(super) p99: Time,
    pub(super) max: Time,
}

impl Waits {
    fn of(records: &[Record]) -> Self {
        let waits = records.iter().map(|record| record.start - record.ready);
        let mut waits: Vec<Time> = waits.collect();
        waits.sort_unstable();
        // The least wait that this share of jobs do not exceed.
        let quantile = |share: f64| {
            let rank = (share * waits.len() as f64).ceil() as usize;
            waits.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: quantile(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, Waits};

    #[test]
    fn waits_are_counted_from_being_ready() {
        let record = |wait: u64| Record {
            ready: 7,
            start: 7 + wait * 1_000_000,
            end: u64::MAX,
            worker: 0,
        };
        let records: Vec<_> = (1..=100).map(record).collect();
        let waits = Waits::of(&records);
        assert_eq!(
            [waits.p50, waits.p99, waits.max],
            [50_000_000, 99_000_000, 100_000_000]
        );
    }
}
