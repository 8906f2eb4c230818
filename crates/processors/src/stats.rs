use std::ops::Add;

use filch_sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What one processor has done since it was started.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct ProcessorStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Add for ProcessorStats {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }

        /// [`ProcessorStats`] in the making: written by the processor's thread alone, read by anybody.
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
    /// Of those, the ones whose runner panicked.
    panicked,
    /// Tasks that its thread made runnable while it was running another.
    scheduled,
    /// Tasks taken from the global queue, in batches or singly.
    from_injector,
    /// Tasks taken from other processors; not counted are those that a third one stole onwards at once.
    stolen,
    /// Successful steals: each took one task or more.
    steals,
    /// Searches through all other processors that found nothing.
    failed_steals,
    /// Rounds spent spinning between searches.
    spins,
    /// Times its thread went to sleep for want of work.
    parks,
    /// Times it was woken, because somebody had made a task runnable.
    wake_ups,
}

/// A figure with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. Only ever one thread does.
    pub fn add(&self, n: u64) {
        // ORDERING: Relaxed, and no RMW: there is one writer, and a figure carries no other data.
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(n),
            Ordering::Relaxed,
        );
    }

    /// The figure now, or a moment ago.
    pub fn get(&self) -> u64 {
        // ORDERING: Relaxed: see `add`.
        self.0.load(Ordering::Relaxed)
    }
}
