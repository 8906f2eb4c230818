//! The time that something has made no progress, told by two looks at a counter.

use std::time::{Duration, Instant};

/// Counters seen at former looks.
#[derive(Default)]
pub(crate) struct Progress {
    /// The tasks and pieces run, by processor.
    pub(crate) processors: Sightings<u64>,
    /// The activity, and how often it had changed, by machine.
    pub(crate) machines: Sightings<u32>,
}

/// Counts by number, and since when they have been the same.
pub(crate) struct Sightings<C>(Vec<Option<(C, Instant)>>);

impl<C> Default for Sightings<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: PartialEq> Sightings<C> {
    /// Returns the least time that the count of that number has been the same; `None` if it was
    /// another one at the last look, or there was none.
    pub(crate) fn look(&mut self, number: usize, count: C, now: Instant) -> Option<Duration> {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, || None);
        }
        match &self.0[number] {
            Some((seen, since)) if *seen == count => Some(now.saturating_duration_since(*since)),
            _ => {
                self.0[number] = Some((count, now));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Sightings;

    #[test]
    fn from_the_first_sight_of_the_same_count() {
        let mut seen = Sightings::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(seen.look(2, 7, at(0)), None);
        assert_eq!(seen.look(2, 7, at(1)), Some(Duration::from_secs(1)));
        assert_eq!(seen.look(2, 7, at(3)), Some(Duration::from_secs(3)));
        assert_eq!(seen.look(2, 8, at(4)), None);
        assert_eq!(seen.look(0, 7, at(5)), None, "another number");
        assert_eq!(seen.look(2, 8, at(6)), Some(Duration::from_secs(2)));
    }
}
