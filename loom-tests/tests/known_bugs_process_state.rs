//! Broken process states, each with a tempting mistake that the models must catch. Each model is
//! there twice: it must hold for the word without a mistake.
//!
//! The toy is that of `process_state`, reduced to messages and one process that is idle or not.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use loom_tests::{Bound, beside};

const MESSAGE: u32 = 1;
const AWAITS_MESSAGE: u32 = 2;
const READY: u32 = MESSAGE | AWAITS_MESSAGE;

/// The mistake of the broken word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// `wake` looks first, and writes only if the flag is not set.
    WakeLoads,
    /// Letting go is a load and a store.
    LetGoStores,
    /// `wake` tests whether the process is waiting, and sets the flag after that.
    FlagAfterTest,
    /// `start` drains first, and then consumes the flag.
    DrainThenStart,
}

#[derive(Default)]
struct Toy {
    bug: Bug,
    word: AtomicU32,
    entries: AtomicUsize,
    events: [AtomicUsize; 2],
    seen: [AtomicUsize; 2],
}

impl Toy {
    fn new(bug: Bug, word: u32) -> Arc<Self> {
        Arc::new(Self {
            bug,
            word: AtomicU32::new(word),
            entries: AtomicUsize::new(usize::from(word == READY)),
            ..Self::default()
        })
    }

    fn enqueue(&self) {
        // ORDERING: AcqRel, unlike in the models of the real word: the queue must not cause the
        // failure here.
        let before = self.entries.fetch_add(1, Ordering::AcqRel);
        assert_eq!(before, 0, "enqueued twice");
    }

    fn send(&self, event: usize) {
        self.events[event].store(1, Ordering::Relaxed);
        let old = match self.bug {
            Bug::WakeLoads => {
                let old = self.word.load(Ordering::Acquire);
                if old & MESSAGE != 0 {
                    return;
                }
                self.word.fetch_or(MESSAGE, Ordering::AcqRel)
            }
            Bug::FlagAfterTest => {
                let old = self.word.load(Ordering::Acquire);
                self.word.fetch_or(MESSAGE, Ordering::AcqRel);
                old
            }
            _ => self.word.fetch_or(MESSAGE, Ordering::AcqRel),
        };
        if old == AWAITS_MESSAGE {
            self.enqueue();
        }
    }

    fn drain(&self) {
        for (event, seen) in self.events.iter().zip(&self.seen) {
            if event.load(Ordering::Relaxed) == 1 {
                seen.store(1, Ordering::Relaxed);
            }
        }
    }

    /// Runs one turn, idle after it, if the process is queued.
    fn turn(&self) -> bool {
        if self.entries.swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        if self.bug == Bug::DrainThenStart {
            self.drain();
            self.word.swap(0, Ordering::AcqRel);
        } else {
            self.word.swap(0, Ordering::AcqRel);
            self.drain();
        }
        let old = if self.bug == Bug::LetGoStores {
            let old = self.word.load(Ordering::Acquire);
            self.word.store(old | AWAITS_MESSAGE, Ordering::Release);
            old
        } else {
            self.word.fetch_or(AWAITS_MESSAGE, Ordering::AcqRel)
        };
        if old & MESSAGE != 0 {
            self.enqueue();
        }
        true
    }
}

/// A process that is Ready, a worker that runs it, and a waker. Afterwards the queue runs dry.
#[test]
fn a_message_beside_a_turn() {
    Bound::exhaustive(25).check_and_refute(
        "a wake-up beside a turn is seen by it or by the next",
        |bug| {
            let toy = Toy::new(bug, READY);
            let worker = beside(&toy, |toy| assert!(toy.turn()));
            toy.send(0);
            worker.join().unwrap();
            while toy.turn() {}
            let seen = toy.seen[0].load(Ordering::Relaxed);
            assert_eq!(seen, 1, "the wake-up was lost");
        },
        &[
            // The process is Ready with its flag set. The waker's load reads a word from before
            // `start`, or its push is not visible to the drain. The waker relies on a turn that
            // will see it, but none does.
            (Bug::WakeLoads, "the wake-up was lost"),
            // The flag is set between the worker's load and its store, which clears it again.
            (Bug::LetGoStores, "the wake-up was lost"),
            // The waker finds the process running, so it need not enqueue it. The worker lets go
            // and sees no flag. Then the flag is set.
            (Bug::FlagAfterTest, "the wake-up was lost"),
            // The event comes after the drain, its flag before `start`, which consumes it.
            (Bug::DrainThenStart, "the wake-up was lost"),
        ],
    );
}

/// A process that is waiting, and two wakers: it is enqueued once.
#[test]
fn two_messages() {
    Bound::exhaustive(4).check_and_refute(
        "the first of two wakers enqueues",
        |bug| {
            let toy = Toy::new(bug, AWAITS_MESSAGE);
            let other = beside(&toy, |toy| toy.send(0));
            toy.send(1);
            other.join().unwrap();
            let entries = toy.entries.load(Ordering::Relaxed);
            assert_eq!(entries, 1, "nobody enqueued it");
        },
        // Two wakers test, both find the process waiting, both enqueue it.
        &[(Bug::FlagAfterTest, "enqueued twice")],
    );
}
