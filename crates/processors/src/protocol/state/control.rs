//! A rarely written word that holds all that a running machine must notice between two tasks.

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU64, Ordering};

use crate::protocol::state::coordinator::Coordinator;

/// The word: `stopping:1 | waiting:31 | unused:16 | active:16`.
///
/// Between two tasks a machine loads it and compares it with what it saw before. All machines share
/// its line, and it is written only when a thread comes back from a blocking call and finds no
/// processor, at a resize, and at the end.
#[derive(Debug)]
pub(crate) struct Control {
    word: CachePadded<AtomicU64>,
}

/// A value of the word: a machine compares two between any two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlWord(u64);

const ACTIVE: u64 = 0xffff;
const WAITING: u64 = 1 << 32;
const STOPPING: u64 = 1 << 63;

impl ControlWord {
    /// Processors with a smaller number may run; others are to be given up.
    #[inline]
    #[must_use]
    pub const fn active(self) -> usize {
        (self.0 & ACTIVE) as usize
    }

    /// Threads that are back from a blocking call and wait for a processor.
    #[inline]
    #[must_use]
    pub const fn waiting(self) -> usize {
        ((self.0 & !STOPPING) / WAITING) as usize
    }

    /// Returns whether the pool has been told to stop. A thread that has published work and
    /// [waked one](Coordinator::wake_one) before it hears `false` can rely on it that the work is
    /// run: the fence in there is a partner of the one in [`stop`](Coordinator::stop).
    #[must_use]
    pub const fn is_stopping(self) -> bool {
        self.0 & STOPPING != 0
    }

    /// Returns whether the processor is to be given up.
    #[inline]
    #[must_use]
    pub const fn is_surplus(self, processor: usize) -> bool {
        processor >= self.active()
    }

    /// Returns what a machine that has seen this word should see again: the same, and none waiting.
    #[must_use]
    pub const fn settled(self) -> Self {
        Self(self.0 & (STOPPING | ACTIVE))
    }
}

impl Coordinator {
    /// Returns what machines must notice.
    #[inline]
    pub fn control_word(&self) -> ControlWord {
        self.control.read()
    }
}

impl Control {
    pub(crate) fn new(active: usize) -> Self {
        Self {
            word: CachePadded::new(AtomicU64::new(active as u64 & ACTIVE)),
        }
    }

    /// Returns what it says now.
    #[inline]
    pub(crate) fn read(&self) -> ControlWord {
        // ORDERING: Relaxed: for "either you see my word or I see your processor" both sides have
        // fences. A thread that sees that the pool stops, and ends it, passes the fence of
        // `quiescent_snapshot` before it looks at the queues: that one is the partner of the
        // Release in `stop`.
        ControlWord(self.word.load(Ordering::Relaxed))
    }

    /// Says that no task is awaited any more.
    pub(crate) fn stop(&self) {
        // ORDERING: Release: a thread that ends the pool has seen what was made runnable before the
        // stop: see `read`. That it is needed loom cannot show: it does not switch threads before
        // the fence that follows in `Coordinator::stop`.
        self.word.fetch_or(STOPPING, Ordering::Release);
    }

    /// Counts one more that waits. Under the lock of `Synced`.
    pub(crate) fn add_waiting(&self) {
        // ORDERING: Relaxed: the list of waiters is under the lock; the handshake with a processor
        // that goes idle has fences (see `Coordinator::try_regain`).
        self.word.fetch_add(WAITING, Ordering::Relaxed);
    }

    /// Counts one less that waits. Under the lock of `Synced`.
    pub(crate) fn remove_waiting(&self) {
        // ORDERING: Relaxed: as above. An RMW, as every write of the word, so that `stop`'s release
        // sequence goes on.
        self.word.fetch_sub(WAITING, Ordering::Relaxed);
    }

    /// Changes the number of active processors. Under the lock of `Synced`, as all changes of it.
    pub(crate) fn set_active(&self, active: usize) {
        let before = self.read().active() as u64;
        // ORDERING: Relaxed: as in `add_waiting`. The field is changed by its difference, which
        // leaves the others alone.
        self.word
            .fetch_add((active as u64).wrapping_sub(before), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Control;

    #[test]
    fn each_field_changes_by_itself() {
        let control = Control::new(300);
        control.add_waiting();
        control.add_waiting();
        control.set_active(1);
        assert!(!control.read().is_stopping());
        control.stop();
        control.remove_waiting();
        control.set_active(65_534);
        let word = control.read();
        assert!(word.is_stopping());
        assert_eq!((word.waiting(), word.active()), (1, 65_534));
        assert!(word.is_surplus(65_534) && !word.is_surplus(65_533));
        let settled = word.settled();
        assert!(settled.is_stopping() && settled != word);
        assert_eq!((settled.waiting(), settled.active()), (0, 65_534));
        control.remove_waiting();
        assert_eq!(control.read(), settled);
    }
}
