//! The outcome of one simulation, in a few figures.

use std::time::Duration;

use super::farm::Amount;
use super::graph::Time;
use super::policy::Kind;
use super::simulation::{Outcome, Record};

/// The figures of one policy.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    pub(super) kind: Kind,
    pub(super) makespan: Time,
    pub(super) moved: Amount,
    pub(super) needed: Amount,
    pub(super) results_used: u64,
    pub(super) waits: Waits,
    pub(super) events: u64,
    /// The real time that it took.
    pub(super) took: Duration,
}

impl Figures {
    pub(super) fn of(kind: Kind, outcome: &Outcome, took: Duration) -> Self {
        Self {
            kind,
            makespan: makespan(outcome),
            moved: outcome.moved,
            needed: outcome.needed,
            results_used: outcome.results_used,
            waits: Waits::of(&outcome.records),
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
