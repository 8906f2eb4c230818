//! The state word, stages 2 and 3: one word, and one exchange for each edge.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

use super::state_flag::{Queues, sends_beside_a_turn};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Exercise 2: letting go is a load and a store.
    LetsGoByStore,
    /// The worker drains, and consumes the flag then.
    DrainsFirst,
    /// Stage 3: a wake-up looks if the process waits, and sets the flag then.
    FlagAfterLook,
    /// Exercise 3: a wake-up writes only if the flag is not set.
    WakesByLoad,
}

// ANCHOR: word
const MESSAGE: u32 = 1; // one came since the turn began
const AWAITS_MESSAGE: u32 = 2; // a worker has let go
const READY: u32 = MESSAGE | AWAITS_MESSAGE;
// ANCHOR_END: word

struct Process {
    bug: Bug,
    word: AtomicU32,
    queues: Queues,
}

impl Process {
    fn new(bug: Bug, word: u32) -> Arc<Self> {
        Arc::new(Self {
            bug,
            word: AtomicU32::new(word),
            queues: Queues::default(),
        })
    }

    // ANCHOR: send
    fn send(&self) {
        self.queues.push();
        // ANCHOR_END: send
        if let Bug::FlagAfterLook | Bug::WakesByLoad = self.bug {
            return self.look_and_wake();
        }
        // ANCHOR: send
        let old = self.word.fetch_or(MESSAGE, Ordering::AcqRel);
        if old == AWAITS_MESSAGE {
            self.queues.enqueue(); // it waited, and this is what it waited for
        }
    }
    // ANCHOR_END: send

    fn look_and_wake(&self) {
        let looked = self.word.load(Ordering::Acquire);
        if self.bug == Bug::WakesByLoad && looked & MESSAGE != 0 {
            return;
        }
        let old = self.word.fetch_or(MESSAGE, Ordering::AcqRel);
        let has_awaited = [old, looked][usize::from(self.bug == Bug::FlagAfterLook)];
        if has_awaited == AWAITS_MESSAGE {
            self.queues.enqueue();
        }
    }

    // ANCHOR: turn
    /// Runs one turn, if the process is queued.
    fn turn(&self) -> bool {
        let is_queued = self.queues.take_entry();
        if is_queued {
            self.start_and_drain();
            if self.let_go() & MESSAGE != 0 {
                self.queues.enqueue(); // it is Ready again
            }
        }
        is_queued
    }

    fn start_and_drain(&self) {
        // ANCHOR_END: turn
        if self.bug == Bug::DrainsFirst {
            self.queues.drain();
            self.word.swap(0, Ordering::AcqRel);
            return;
        }
        // ANCHOR: turn
        self.word.swap(0, Ordering::AcqRel); // Running, and nothing is pending
        self.queues.drain();
    }

    /// Returns the word as it was.
    fn let_go(&self) -> u32 {
        // ANCHOR_END: turn
        if self.bug == Bug::LetsGoByStore {
            let old = self.word.load(Ordering::Acquire);
            self.word.store(old | AWAITS_MESSAGE, Ordering::Release);
            return old;
        }
        // ANCHOR: turn
        self.word.fetch_or(AWAITS_MESSAGE, Ordering::AcqRel)
    }
    // ANCHOR_END: turn
}

/// A process that is Ready, and a message beside its turn.
fn a_message_beside_a_turn(bug: Bug) {
    let process = Process::new(bug, READY);
    sends_beside_a_turn(
        process,
        |process| &process.queues,
        Process::send,
        Process::turn,
    );
}

#[test]
fn stage_2_one_word_loses_no_wake_up() {
    Bound::exhaustive(25).check_and_refute(
        "state 2: a message beside a turn",
        a_message_beside_a_turn,
        &[
            // The flag is set between the worker's load and its store, which clears it again.
            (Bug::LetsGoByStore, "the wake-up was lost"),
            // The event comes after the drain, its flag before `start`, which consumes it.
            (Bug::DrainsFirst, "the wake-up was lost"),
        ],
    );
}

/// A process that waits, and two senders.
#[test]
fn stage_3_the_result_says_who_enqueues() {
    Bound::exhaustive(4).check_and_refute(
        "state 3: two messages for one that waits",
        |bug| {
            let process = Process::new(bug, AWAITS_MESSAGE);
            let other = beside(&process, Process::send);
            process.send();
            other.join().unwrap();
            assert!(process.queues.take_entry(), "nobody enqueued it");
        },
        // Both find it waiting.
        &[(Bug::FlagAfterLook, "enqueued twice")],
    );
    // The sender finds the process Running. The worker lets go and sees no flag. Then it is set.
    let claim = "state 3: look, set the flag then";
    Bound::exhaustive(2).refute(claim, "the wake-up was lost", || {
        a_message_beside_a_turn(Bug::FlagAfterLook);
    });
}

/// The sender's load reads the word from before `start`, whose drain misses the event.
#[test]
fn exercise_3_a_wake_up_that_only_looks_is_lost() {
    let claim = "state 3: the flag is set, leave it so";
    Bound::exhaustive(2).refute(claim, "the wake-up was lost", || {
        a_message_beside_a_turn(Bug::WakesByLoad);
    });
}
