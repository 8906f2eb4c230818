//! Memory and threads from phase to phase: a curve that must be flat.

use std::time::Duration;

/// The memory and threads in use after one phase, when all had ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    /// Bytes that were allocated and not freed.
    pub(crate) heap: i64,
    /// Resident bytes, as the system counts them.
    pub(crate) resident: i64,
    pub(crate) threads: usize,
}

/// The most that may be in use above the start: structures that grow to the size of the largest
/// phase so far, and stay.
pub(crate) const HEAP_BOUND: i64 = 1 << 20;

/// The same for resident memory, which also holds the allocator's fragments and stacks.
pub(crate) const RESIDENT_BOUND: i64 = 128 << 20;

/// The number of points that are kept: in a long soak, each stands for a stretch of time.
const POINTS: usize = 240;

/// The samples of a soak.
#[derive(Debug, Default)]
pub(crate) struct Curve {
    start: Sample,
    points: Vec<Sample>,
    /// The number of samples that go into each point.
    per_point: usize,
    in_last: usize,
}

impl Curve {
    /// Starts with the memory in use when all is warm.
    pub(crate) fn begin(&mut self, start: Sample) {
        self.start = start;
        self.per_point = 1;
        self.points = Vec::with_capacity(POINTS);
    }

    /// Adds a sample.
    ///
    /// # Errors
    /// If more is in use than the bounds allow.
    pub(crate) fn add(&mut self, sample: Sample) -> Result<(), String> {
        if self.points.len() == POINTS && self.in_last == self.per_point {
            self.halve();
        }
        match self.points.last_mut() {
            Some(last) if self.in_last < self.per_point => {
                last.heap = last.heap.max(sample.heap);
                last.resident = last.resident.max(sample.resident);
                last.threads = last.threads.max(sample.threads);
                self.in_last += 1;
            }
            _ => {
                self.points.push(sample);
                self.in_last = 1;
            }
        }
        let (heap, resident) = (
            sample.heap - self.start.heap,
            sample.resident - self.start.resident,
        );
        if heap > HEAP_BOUND {
            return Err(format!(
                "all has ended, and {heap} bytes more are in use than at the beginning"
            ));
        }
        if resident > RESIDENT_BOUND {
            return Err(format!(
                "all has ended, and {resident} bytes more are resident than at the beginning"
            ));
        }
        Ok(())
    }

    /// Joins points in pairs, to the larger of each.
    fn halve(&mut self) {
        let joined: Vec<_> = self
            .points
            .chunks(2)
            .map(|two| Sample {
                at: two[0].at,
                heap: two.iter().map(|one| one.heap).max().unwrap_or(0),
                resident: two.iter().map(|one| one.resident).max().unwrap_or(0),
                threads: two.iter().map(|one| one.threads).max().unwrap_or(0),
            })
            .collect();
        self.points.clear();
        self.points.extend(joined);
        self.per_point *= 2;
        self.in_last = self.per_point;
    }

    /// Returns the sample from when all was warm.
    pub(crate) fn start(&self) -> Sample {
        self.start
    }

    /// Returns the largest sample of each stretch.
    pub(crate) fn points(&self) -> &[Sample] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Curve, HEAP_BOUND, POINTS, Sample};

    fn sample(seconds: u64, heap: i64) -> Sample {
        Sample {
            at: Duration::from_secs(seconds),
            heap,
            resident: 0,
            threads: 1,
        }
    }

    #[test]
    fn more_than_the_bound_is_told() {
        let mut curve = Curve::default();
        curve.begin(sample(0, 100));
        assert!(curve.add(sample(1, 100 + HEAP_BOUND)).is_ok());
        assert!(curve.add(sample(2, 101 + HEAP_BOUND)).is_err());
    }

    #[test]
    fn a_long_curve_keeps_its_peaks_and_few_points() {
        let mut curve = Curve::default();
        curve.begin(sample(0, 0));
        for second in 0..10_000 {
            let heap = if second == 7777 { 500 } else { 3 };
            assert!(curve.add(sample(second, heap)).is_ok());
        }
        assert!(curve.points().len() <= POINTS && curve.points().len() > POINTS / 3);
        assert!(curve.points().iter().any(|point| point.heap == 500));
        assert!(curve.points().is_sorted_by_key(|point| point.at));
    }
}
