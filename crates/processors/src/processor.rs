use std::fmt;

use filch_deque::Stealer;
use filch_parker::Unparker;
use filch_sync::CachePadded;

use crate::stats::Counters;

/// What the others see of a processor: where to steal from it, how to wake it, and what it has done.
///
/// The owner's end of its deque is with the thread that holds the processor: see [`machine`](crate::machine).
pub(crate) struct Processor<T> {
    pub(crate) stealer: Stealer<T>,
    pub(crate) unparker: Unparker,
    pub(crate) counters: CachePadded<Counters>,
}

impl<T> fmt::Debug for Processor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processor")
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}
