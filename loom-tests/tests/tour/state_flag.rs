//! The state word, stage 1: a state, and a flag beside it.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};

/// A run queue with one process, and one event for it. A worker sees of the event only what the
/// words of the process make visible.
#[derive(Default)]
pub(super) struct Queues {
    pub(super) entries: AtomicUsize,
    event: AtomicBool,
    seen: AtomicBool,
}

impl Queues {
    pub(super) fn enqueue(&self) {
        // AcqRel: the run queue must not cause the failure here.
        let before = self.entries.fetch_add(1, Ordering::AcqRel);
        assert_eq!(before, 0, "enqueued twice");
    }

    pub(super) fn take_entry(&self) -> bool {
        self.entries.swap(0, Ordering::AcqRel) > 0
    }

    pub(super) fn push(&self) {
        self.event.store(true, Ordering::Relaxed);
    }

    pub(super) fn drain(&self) {
        if self.event.load(Ordering::Relaxed) {
            self.seen.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn assert_seen(&self) {
        assert!(self.seen.load(Ordering::Relaxed), "the wake-up was lost");
    }
}

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    /// Exercise 1: the worker lets go, passes a fence, and looks.
    #[default]
    None,
    /// Stage 1: the worker looks at the flag, and lets go.
    LooksFirst,
    /// Exercise 1, and no fences.
    NoFences,
}

const IDLE: u32 = 0;
const READY: u32 = 1;
const RUNNING: u32 = 2;

struct Process {
    bug: Bug,
    state: AtomicU32,
    /// Set once an event is pushed.
    woken: AtomicBool,
    queues: Queues,
}

impl Process {
    // ANCHOR: flag
    fn send(&self) {
        self.queues.push();
        self.woken.swap(true, Ordering::AcqRel);
        // ANCHOR_END: flag
        self.fence();
        // ANCHOR: flag
        self.enqueue_if_idle();
    }

    fn enqueue_if_idle(&self) {
        let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
        let ready = self.state.compare_exchange(IDLE, READY, ok, failed);
        if ready.is_ok() {
            self.queues.enqueue();
        } // else a turn is queued or under way, and will see the flag
    }

    /// Runs one turn, if the process is queued.
    fn turn(&self) -> bool {
        if !self.queues.take_entry() {
            return false;
        }
        self.state.swap(RUNNING, Ordering::AcqRel);
        self.woken.swap(false, Ordering::AcqRel);
        self.queues.drain();
        // ANCHOR_END: flag
        if self.bug != Bug::LooksFirst {
            self.state.swap(IDLE, Ordering::AcqRel);
            self.fence();
            if self.woken.load(Ordering::Acquire) {
                self.enqueue_if_idle();
            }
            return true;
        }
        // ANCHOR: flag
        if self.woken.load(Ordering::Acquire) {
            self.state.swap(READY, Ordering::AcqRel);
            self.queues.enqueue();
        } else {
            self.state.swap(IDLE, Ordering::AcqRel);
        }
        true
    }
    // ANCHOR_END: flag

    fn fence(&self) {
        if self.bug == Bug::None {
            fence(Ordering::SeqCst);
        }
    }
}

/// A process that is queued, a worker that runs it, and a sender. Afterwards the queue runs dry.
pub(super) fn sends_beside_a_turn<P: 'static>(
    process: Arc<P>,
    queues: fn(&P) -> &Queues,
    send: fn(&P),
    turn: fn(&P) -> bool,
) {
    queues(&process).enqueue();
    let worker = beside(&process, move |process| assert!(turn(process)));
    send(&process);
    worker.join().unwrap();
    while turn(&process) {}
    queues(&process).assert_seen();
}

fn a_message_beside_a_turn(bug: Bug) {
    let process = Arc::new(Process {
        bug,
        state: AtomicU32::new(READY),
        woken: AtomicBool::new(false),
        queues: Queues::default(),
    });
    sends_beside_a_turn(
        process,
        |process| &process.queues,
        Process::send,
        Process::turn,
    );
}

/// The worker finds the flag down. The sender raises it, and finds the process Running: it leaves
/// the rest to the worker, which lets go.
#[test]
fn stage_1_a_flag_beside_the_state_loses_a_wake_up() {
    let claim = "state 1: look at the flag, let go";
    Bound::exhaustive(2).refute(claim, "the wake-up was lost", || {
        a_message_beside_a_turn(Bug::LooksFirst);
    });
}

#[test]
fn exercise_1_a_look_after_letting_go_needs_two_fences() {
    Bound::exhaustive(150).check_and_refute(
        "state 1: let go, fence, look at the flag",
        a_message_beside_a_turn,
        // Each has read the value before the other's store.
        &[(Bug::NoFences, "the wake-up was lost")],
    );
}
