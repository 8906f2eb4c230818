//! The calls of some threads on one object.

use std::fmt;
use std::ops::RangeInclusive;

use crate::call::{Call, MAX_THREADS};
use crate::timeline;

/// The calls of some threads on one object, those of each thread in order.
#[derive(Clone, Debug)]
pub struct History<O> {
    pub(crate) threads: Vec<Vec<Call<O>>>,
}

impl<O> History<O> {
    /// Makes a history of these calls: their thread, interval and operation. Those of one thread
    /// are given in order. For tests of specifications and of the checker.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_THREADS`] threads.
    pub fn of_intervals(calls: impl IntoIterator<Item = (usize, RangeInclusive<u64>, O)>) -> Self {
        let calls: Vec<_> = calls.into_iter().collect();
        let mut returns: [Vec<u64>; MAX_THREADS] = Default::default();
        for (thread, interval, _) in &calls {
            returns[*thread].push(*interval.end());
        }
        let used = returns.iter().rposition(|ends| !ends.is_empty());
        let mut threads: Vec<Vec<Call<O>>> = (0..used.map_or(0, |last| last + 1))
            .map(|_| Vec::new())
            .collect();
        for (thread, interval, operation) in calls {
            let ended = |ends: &Vec<u64>| ends.iter().filter(|&end| end < interval.start()).count();
            threads[thread].push(Call {
                seen: returns.each_ref().map(|ends| ended(ends) as u32),
                steps: vec![operation],
            });
        }
        Self { threads }
    }

    /// Replaces the steps of a thread's call.
    ///
    /// # Panics
    ///
    /// If there is no such call.
    pub fn replace(&mut self, thread: usize, call: usize, steps: impl IntoIterator<Item = O>) {
        self.threads[thread][call].steps = steps.into_iter().collect();
    }

    /// Returns the steps of a thread, in order.
    ///
    /// # Panics
    ///
    /// If there is no such thread.
    pub fn steps(&self, thread: usize) -> impl Iterator<Item = &O> {
        self.threads[thread].iter().flat_map(|call| &call.steps)
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Returns true if there is no call.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts the pairs of calls that overlap: neither is known to have returned before the other.
    pub fn overlaps(&self) -> usize {
        let mut overlaps = 0;
        for (one, calls) in self.threads.iter().enumerate() {
            for (other, others) in self.threads.iter().enumerate().skip(one + 1) {
                for (place, call) in calls.iter().enumerate() {
                    let unseen = others.iter().enumerate().filter(|(index, with)| {
                        *index >= call.seen[other] as usize && place >= with.seen[one] as usize
                    });
                    overlaps += unseen.count();
                }
            }
        }
        overlaps
    }
}

impl<O: fmt::Display> fmt::Display for History<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = 2 * self.len();
        for (thread, intervals) in timeline::intervals(&self.threads).into_iter().enumerate() {
            writeln!(f, "thread {thread}")?;
            for (call, (begun, ended)) in self.threads[thread].iter().zip(intervals) {
                let bar = format!("├{}┤", "─".repeat(ended.saturating_sub(begun + 1)));
                let steps: Vec<_> = call.steps.iter().map(ToString::to_string).collect();
                let steps = if steps.is_empty() {
                    "no answer".to_owned()
                } else {
                    steps.join(", then ")
                };
                let line = format!("{}{bar}", " ".repeat(begun));
                writeln!(f, "  {begun:>3}–{ended:<3} {line:<width$}  {steps}")?;
            }
        }
        Ok(())
    }
}
