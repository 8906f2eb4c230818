//! How a watch meets the end of the process that it is about: the handshake of the scheduler's
//! `ops/signal.rs`, around the real queue and the real state. Beside it the ways to lose a watch,
//! each caught.
//!
//! The race: a thread pushes a watch into a process's queue and wakes the process; a worker ends
//! the process, or its submitter turns it away. The claim: the watch is answered, by one of the two
//! at least (the word of the watch makes that one). A failure would be a watcher that is never
//! told.
#![cfg(loom)]

use filch_event_queue::EventQueue;
use filch_process_state::{ProcessState, Reason, Wake};
use filch_sync::atomic::{AtomicUsize, Ordering, fence};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check, refute};

const UNANSWERED: &str = "the watch was not answered";

struct Process {
    queue: EventQueue<u8>,
    state: ProcessState,
    /// By how many the watch was found.
    answers: AtomicUsize,
}

impl Process {
    fn answer(&self) {
        // ORDERING: Relaxed: looked at when the threads are joined.
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    fn drain(&self) {
        // SAFETY: only the thread that ends the process drains.
        unsafe { self.queue.drain(|_watch| self.answer()) };
    }

    fn complete(&self) {
        self.state.complete().unwrap();
    }
}

/// As `Handle::signal` and `Handle::attach` do it.
fn watch(process: &Process) {
    watch_with(process, || fence(Ordering::SeqCst));
}

fn watch_with(process: &Process, between: fn()) {
    if process.queue.push(7).is_err() {
        return process.answer();
    }
    if process.state.wake(Reason::Message) == Wake::Refused {
        between();
        if process.queue.is_closed() {
            process.answer();
        }
    }
}

/// As the worker that ends a process does it.
fn end(process: &Process) {
    process.queue.close();
    process.complete();
    process.drain();
}

/// As `Handle::turn_away` does it.
fn turn_away(process: &Process) {
    process.queue.close();
    fence(Ordering::SeqCst);
    process.drain();
}

/// Returns how often the watch was found. Of a process that has `started` there is a worker, else a
/// submitter.
fn meet(started: bool, watch: fn(&Process), end: fn(&Process)) -> usize {
    let state = if started {
        let state = ProcessState::new_ready();
        state.start().unwrap();
        state
    } else {
        ProcessState::new_complete()
    };
    let process = Arc::new(Process {
        queue: EventQueue::with_blocks(1, 1),
        state,
        answers: AtomicUsize::new(0),
    });
    let watcher = thread::spawn({
        let process = Arc::clone(&process);
        move || watch(&process)
    });
    end(&process);
    watcher.join().unwrap();
    // ORDERING: Relaxed: the thread is joined.
    let answers = process.answers.load(Ordering::Relaxed);
    assert!(answers > 0, "{UNANSWERED}");
    answers
}

/// Found once by one of the two, or by both: the watch that the drain finds and whose wake-up is
/// refused.
#[test]
fn an_end_answers_a_watch() {
    let outcomes = Outcomes::new();
    let seen = outcomes.clone();
    check("an end answers", Bound::exhaustive(50), move || {
        seen.observe(meet(true, watch, end));
    });
    outcomes.assert_exactly([1, 2]);
}

#[test]
fn a_refused_start_answers_a_watch() {
    let outcomes = Outcomes::new();
    let seen = outcomes.clone();
    check("a refusal answers", Bound::exhaustive(25), move || {
        seen.observe(meet(false, watch, turn_away));
    });
    outcomes.assert_exactly([1, 2]);
}

/// The drain passes over a push that is under way, whose wake-up is then still noted.
#[test]
fn a_drain_before_the_last_edge_misses_a_watch() {
    refute(
        "the last drain comes before the last edge",
        UNANSWERED,
        Bound::exhaustive(1),
        || {
            meet(true, watch, |process| {
                process.queue.close();
                process.drain();
                process.complete();
            });
        },
    );
}

/// Store, then load, on both sides, and nothing between them on one.
#[test]
fn a_submitter_without_a_fence_misses_a_watch() {
    refute(
        "no fence in the submitter",
        UNANSWERED,
        Bound::exhaustive(1),
        || {
            meet(false, watch, |process| {
                process.queue.close();
                process.drain();
            });
        },
    );
}

#[test]
fn a_watcher_without_a_fence_is_missed() {
    refute(
        "no fence in the watcher",
        UNANSWERED,
        Bound::exhaustive(1),
        || {
            meet(false, |process| watch_with(process, || {}), turn_away);
        },
    );
}

/// A refused wake-up means the end only if the process has started.
#[test]
fn a_watcher_that_trusts_the_closing_alone_is_missed() {
    refute(
        "the watcher asks before it wakes",
        UNANSWERED,
        Bound::exhaustive(1),
        || {
            let hasty = |process: &Process| {
                if process.queue.push(7).is_err() || process.queue.is_closed() {
                    return process.answer();
                }
                let _ = process.state.wake(Reason::Message);
            };
            meet(true, hasty, end);
        },
    );
}
