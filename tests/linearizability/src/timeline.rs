//! A history's calls as intervals of one time, for the eye.

use crate::call::{Call, MAX_THREADS};

/// Returns when each call of each thread began and returned, in moments counted from 0.
///
/// A recording only knows which calls came before which. Mostly that is an order of intervals, and
/// then these intervals have the same order: calls begin in the order of how much each has seen,
/// and a call returns when the first one that has seen it begins.
pub(crate) fn intervals<O>(threads: &[Vec<Call<O>>]) -> Vec<Vec<(usize, usize)>> {
    let mut line = Timeline {
        intervals: vec![Vec::new(); threads.len()],
        returned: [0; MAX_THREADS],
        now: 0,
    };
    let next = |line: &Timeline| {
        let calls = threads.iter().zip(&line.intervals).enumerate();
        calls
            .filter_map(|(thread, (calls, begun))| Some((thread, calls.get(begun.len())?)))
            .min_by_key(|(_, call)| call.seen.iter().sum::<u32>())
    };
    while let Some((caller, call)) = next(&line) {
        for thread in 0..threads.len() {
            line.end(thread, call.seen[thread] as usize);
        }
        line.end(caller, usize::MAX);
        line.begin(caller);
    }
    for thread in 0..threads.len() {
        line.end(thread, usize::MAX);
    }
    line.intervals
}

struct Timeline {
    intervals: Vec<Vec<(usize, usize)>>,
    returned: [usize; MAX_THREADS],
    now: usize,
}

impl Timeline {
    fn begin(&mut self, thread: usize) {
        self.intervals[thread].push((self.now, self.now));
        self.now += 1;
    }

    /// Ends the first `calls` calls of `thread` that have begun and not returned.
    fn end(&mut self, thread: usize, calls: usize) {
        let begun = self.intervals[thread].len();
        for call in self.returned[thread]..calls.min(begun) {
            self.intervals[thread][call].1 = self.now;
            self.now += 1;
        }
        self.returned[thread] = self.returned[thread].max(calls.min(begun));
    }
}
