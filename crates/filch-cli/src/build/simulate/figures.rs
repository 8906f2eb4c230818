//! The outcome of one simulation, in a few figures and two curves.

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
    pub(super) busy: Busy,
    pub(super) events: u64,
    /// The real time that it took.
    pub(super) took: Duration,
}

impl Figures {
    pub(super) fn of(kind: Kind, outcome: &Outcome, took: Duration) -> Self {
        let makespan = makespan(outcome);
        Self {
            kind,
            makespan,
            moved: outcome.moved,
            needed: outcome.needed,
            results_used: outcome.results_used,
            waits: Waits::of(&outcome.records),
            busy: Busy::of(&outcome.records, makespan),
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
    /// Times, ascending, and the share of jobs that waited no longer.
    pub(super) curve: Vec<(Time, f64)>,
}

impl Waits {
    /// The number of times on the curve for each power of ten.
    const STEPS: i32 = 16;

    fn of(records: &[Record]) -> Self {
        let waits = records.iter().map(|record| record.start - record.ready);
        let mut waits: Vec<Time> = waits.collect();
        waits.sort_unstable();
        // The least wait that this share of jobs do not exceed.
        let quantile = |share: f64| {
            let rank = (share * waits.len() as f64).ceil() as usize;
            waits.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        let millisecond_on = (0..12 * Self::STEPS)
            .map(|step| (1e6 * 10_f64.powf(f64::from(step) / f64::from(Self::STEPS))) as Time);
        let max = quantile(1.0);
        let mut curve = Vec::new();
        for time in millisecond_on {
            let within = waits.partition_point(|&wait| wait <= time);
            curve.push((time, within as f64 / waits.len() as f64));
            if time > max {
                break;
            }
        }
        Self {
            p50: quantile(0.5),
            p99: quantile(0.99),
            max,
            curve,
        }
    }
}

/// The number of jobs that run, over time.
#[derive(Debug, Clone)]
pub(super) struct Busy {
    /// The length of each part of the time; never zero.
    pub(super) part: Time,
    /// For each part, the mean number of jobs that ran or fetched their inputs.
    pub(super) jobs: Vec<f64>,
}

impl Busy {
    const PARTS: u64 = 200;

    fn of(records: &[Record], makespan: Time) -> Self {
        let part = (makespan / Self::PARTS + 1).max(1);
        let mut time = vec![0_u64; Self::PARTS as usize];
        for record in records {
            let mut from = record.start;
            while from < record.end {
                let at = from / part;
                let to = record.end.min((at + 1).saturating_mul(part));
                time[at as usize] += to - from;
                from = to;
            }
        }
        let jobs = time.iter().map(|&time| time as f64 / part as f64).collect();
        Self { part, jobs }
    }
}

#[cfg(test)]
mod tests {
    use super::{Busy, Record, Waits};

    fn record(ready: u64, start: u64, end: u64) -> Record {
        Record {
            ready,
            start,
            end,
            worker: 0,
        }
    }

    #[test]
    fn waits_are_counted_from_being_ready() {
        let records: Vec<_> = (1..=100)
            .map(|wait| record(7, 7 + wait * 1_000_000, u64::MAX))
            .collect();
        let waits = Waits::of(&records);
        assert_eq!(
            [waits.p50, waits.p99, waits.max],
            [50_000_000, 99_000_000, 100_000_000]
        );
        assert_eq!(waits.curve[0], (1_000_000, 0.01));
        assert_eq!(waits.curve.last().unwrap().1, 1.0);
        assert!(waits.curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    }

    #[test]
    fn a_job_is_busy_from_its_start_to_its_end() {
        let busy = Busy::of(&[record(0, 0, 1_999), record(0, 500, 1_000)], 1_999);
        assert_eq!(busy.part, 10);
        assert_eq!(busy.jobs[0], 1.0);
        assert_eq!(busy.jobs[50], 2.0);
        assert_eq!(busy.jobs[100], 1.0);
        let sum = busy.jobs.iter().sum::<f64>() * 10.0;
        assert!((sum - 2_499.0).abs() < 1e-6, "{sum}");
    }
}
