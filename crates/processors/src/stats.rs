//! Counters of each processor's work, with one writer at a time, and their snapshot; and the time
//! that a count has been the same.

use std::fmt;
use std::ops::Add;
use std::time::{Duration, Instant};

use filch_sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The work that one processor has done so far, on whichever threads.
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct ProcessorStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl ProcessorStats {
            /// Counts the tasks and external tasks run.
            pub(crate) fn run_in_all(&self) -> u64 {
                self.run + self.external_tasks
            }
        }

        impl fmt::Display for ProcessorStats {
            /// Writes the counts that are not zero.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(if self.$name != 0 {
                    write!(f, ", {} {}", stringify!($name).replace('_', " "), self.$name)?;
                })*
                Ok(())
            }
        }

        impl Add for ProcessorStats {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }

        /// [`ProcessorStats`] in the making: written by the thread with the processor's permit
        /// alone, read by any.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn snapshot(&self) -> ProcessorStats {
                ProcessorStats { $($name: self.$name.get(),)* }
            }
        }
    };
}

counters! {
    /// Tasks run.
    run,
    /// Times a guest had it: see [`Processors::run_awaited`](crate::Processors::run_awaited) and
    /// [`visit`](crate::Processors::visit).
    visits,
    /// External tasks run, which were taken from the pool's [source](crate::Source). No tasks.
    external_tasks,
    /// Tasks whose runner panicked, and external tasks that did.
    panicked,
    /// Tasks that its thread made runnable while it was running another.
    scheduled,
    /// Tasks taken from the global queue, in batches or singly.
    from_injector,
    /// Tasks taken from those that had given way.
    from_yielded,
    /// Times it looked around, because its turns had taken long enough.
    looks,
    /// Tasks that had their turn at such a look though newer ones were there: one that had given
    /// way, or the oldest of a deque.
    rotated,
    /// Of those, the ones of other processors, which had more.
    balanced,
    /// Tasks taken from other processors, without those that a third one stole onwards at once.
    stolen,
    /// Successful steals: each took one task or more.
    steals,
    /// Searches through all other processors that found nothing.
    failed_steals,
    /// Rounds spent spinning between searches.
    spins,
    /// Times its thread went to sleep for want of work.
    parks,
    /// Of those, the times when its thread watched other processors, which came for their only
    /// tasks by themselves.
    watches,
    /// Times it was woken, because a task had become runnable.
    wake_ups,
    /// Tasks of idle priority among those run.
    idle_priority,
    /// Blocking calls that tasks made on it.
    blocking_calls,
    /// Of those, the ones that kept the processor, because there was no thread to be had.
    blocked_in_place,
    /// Times a thread came back to it that had
    /// [made way](crate::Processors::yield_if_requested) in the middle of a task.
    made_way,
    /// Times its thread gave it, between two tasks, to one that was back from a blocking call.
    handed_to_waiters,
    /// Times its thread found a task for a thread that waited for one that is bound to it.
    sent_to_bound,
    /// Times it was given up, because there were to be fewer.
    retired,
}

/// A counter with one writer at a time.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. Only one thread at a time does.
    #[inline]
    pub fn add(&self, n: u64) {
        // ORDERING: Relaxed, and no RMW: there is one writer at a time (what a former one wrote
        // happens before), and a counter carries no other data.
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(n),
            Ordering::Relaxed,
        );
    }

    /// Takes `n` back that have been added, by the same one.
    pub(crate) fn take_back(&self, n: u64) {
        self.add(n.wrapping_neg());
    }

    /// Sets it to zero, by the same one.
    #[inline]
    pub fn reset(&self) {
        // ORDERING: Relaxed: see `add`.
        self.0.store(0, Ordering::Relaxed);
    }

    /// The count now, or a moment ago.
    pub fn get(&self) -> u64 {
        // ORDERING: Relaxed: see `add`.
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters seen at former looks.
#[derive(Default)]
pub(crate) struct Progress {
    /// The tasks and external tasks run, by processor.
    pub(crate) processors: Sightings<u64>,
    /// The activity, and how often it had changed, by machine.
    pub(crate) machines: Sightings<u32>,
}

/// Counts by number, and since when they have been the same.
#[derive(Default)]
pub(crate) struct Sightings<C>(Vec<Option<(C, Instant)>>);

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
