//! The age of tasks that have given way, compared with those that came to the global queue.

use std::cell::Cell;

use filch_injector::{Injector, Mark};

use crate::queues::global_queue::{GlobalMark, GlobalQueue};

/// Finds out which tasks gave way before all that wait in the global queue came. Such a task
/// overtakes nobody; another one would have its second turn before the first turn of a task that
/// was there before.
///
/// The two queues have no common order. So both ends are marked at once, time and again: when the
/// global queue is past its mark, those that are before the other mark are the older ones.
#[derive(Debug)]
pub(crate) struct AgeOrder {
    /// The end of those that are known to be older.
    older: Cell<Mark>,
    /// The ends of those that have given way, and then of the global queue, when it was last past.
    marked: Cell<(Mark, GlobalMark)>,
}

impl AgeOrder {
    pub(crate) fn new<T: Send>(yielded: &Injector<T>, global: &GlobalQueue<T>) -> Self {
        let marked = (yielded.end(), global.end());
        Self {
            older: Cell::new(marked.0),
            marked: Cell::new(marked),
        }
    }

    /// Returns whether the oldest that has given way is older than all that wait in the global
    /// queue. May say no of one that is, while as many come to that queue as leave it.
    pub(crate) fn is_older<T: Send>(&self, yielded: &Injector<T>, global: &GlobalQueue<T>) -> bool {
        if global.is_empty() {
            return true;
        }
        let (gave_way, came) = self.marked.get();
        if global.is_past(came) {
            self.older.set(gave_way);
            self.marked.set((yielded.end(), global.end()));
        }
        !yielded.is_past(self.older.get())
    }
}
