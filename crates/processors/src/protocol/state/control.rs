//! What a running machine must notice between two tasks, in one word that is rarely written.

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU64, Ordering};

/// The word: `stopping:1 | waiting:31 | unused:16 | active:16`.
///
/// Between two tasks a machine loads it and compares it with what it saw before. All machines share
/// its line, and it is written only when a thread comes back from a blocking call and finds no
/// processor, at a resize, and at the end.
#[derive(Debug)]
pub(crate) struct Control {
    word: CachePadded<AtomicU64>,
}

/// The word, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct ControlWord {
    /// The pool has been told to stop.
    pub stopping: bool,
    /// Threads that are back from a blocking call and wait for a processor.
    pub waiting: u32,
    /// Processors with a smaller number may run; others are to be given up.
    pub active: u16,
}

/// As words: a machine compares two between any two tasks.
impl PartialEq for ControlWord {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.pack() == other.pack()
    }
}

impl Eq for ControlWord {}

const WAITING: u64 = 1 << 32;
const STOPPING: u64 = 1 << 63;

impl ControlWord {
    const fn unpack(word: u64) -> Self {
        Self {
            stopping: word & STOPPING != 0,
            waiting: (word >> 32) as u32 & (u32::MAX >> 1),
            active: word as u16,
        }
    }

    const fn pack(self) -> u64 {
        (self.stopping as u64) << 63 | (self.waiting as u64) << 32 | self.active as u64
    }

    /// Whether the processor is to be given up.
    #[inline]
    #[must_use]
    pub const fn is_surplus(self, processor: usize) -> bool {
        processor >= self.active as usize
    }

    /// What a machine that has seen this word should see again: the same, and none waiting.
    #[must_use]
    pub const fn settled(self) -> Self {
        Self { waiting: 0, ..self }
    }
}

impl Control {
    pub(crate) fn new(active: usize) -> Self {
        let word = ControlWord {
            stopping: false,
            waiting: 0,
            active: active as u16,
        };
        Self {
            word: CachePadded::new(AtomicU64::new(word.pack())),
        }
    }

    /// What it says now.
    #[inline]
    pub(crate) fn read(&self) -> ControlWord {
        // ORDERING: Relaxed: for "either you see my word or I see your processor" both sides have
        // fences. A thread that sees that the pool stops, and ends it, passes the fence of
        // `quiescent_snapshot` before it looks at the queues: that one is the partner of the
        // Release in `stop`.
        ControlWord::unpack(self.word.load(Ordering::Relaxed))
    }

    /// Says that no task is awaited any more.
    pub(crate) fn stop(&self) {
        // ORDERING: Release: a thread that ends the pool has seen what was made runnable before the
        // stop: see `read`. That it is needed loom cannot show: it does not switch threads before
        // the fence that follows in `Coordinator::stop`.
        self.word.fetch_or(STOPPING, Ordering::Release);
    }

    /// One more waits. Under the lock of `Synced`.
    pub(crate) fn add_waiting(&self) {
        // ORDERING: Relaxed: the list of waiters is under the lock; the handshake with a processor
        // that goes idle has fences (see `Coordinator::try_regain`).
        self.word.fetch_add(WAITING, Ordering::Relaxed);
    }

    /// One less waits. Under the lock of `Synced`.
    pub(crate) fn remove_waiting(&self) {
        // ORDERING: Relaxed: as above. An RMW, as every write of the word, so that `stop`'s release
        // sequence goes on.
        self.word.fetch_sub(WAITING, Ordering::Relaxed);
    }

    /// Changes the number of active processors. Under the lock of `Synced`, as all changes of it.
    pub(crate) fn set_active(&self, active: usize) {
        let before = u64::from(self.read().active);
        // ORDERING: Relaxed: as in `add_waiting`. The field is changed by its difference, which
        // leaves the others alone.
        self.word
            .fetch_add((active as u64).wrapping_sub(before), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, ControlWord};

    #[test]
    fn a_control_word_survives_packing() {
        for stopping in [false, true] {
            for waiting in [0, 1, u32::MAX >> 1] {
                for active in [0, 1, u16::MAX] {
                    let word = ControlWord {
                        stopping,
                        waiting,
                        active,
                    };
                    assert_eq!(ControlWord::unpack(word.pack()), word);
                }
            }
        }
    }

    #[test]
    fn each_field_changes_by_itself() {
        let control = Control::new(300);
        control.add_waiting();
        control.add_waiting();
        control.set_active(1);
        control.stop();
        control.remove_waiting();
        control.set_active(65_534);
        let expected = ControlWord {
            stopping: true,
            waiting: 1,
            active: 65_534,
        };
        assert_eq!(control.read(), expected);
        assert_eq!(control.read().settled().waiting, 0);
    }
}
