//! Races of a watch with the end of the process that it is about: the handshake of the scheduler's
//! `link/signal.rs`, around the real queue and the real state. Beside it the ways to lose a watch,
//! each caught.
//!
//! The race: a thread pushes a watch into a process's queue and wakes the process; a worker ends
//! the process, or its submitter turns it away. The claim: the watch is answered, by one of the two
//! at least (the word of the watch makes that one). A failure would be a watcher that is never
//! told.

use filch_event_queue::EventQueue;
use filch_models::{Bound, beside};
use filch_process_state::{Disposal, Ending, ProcessState, Reason, Wake};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

const UNANSWERED: &str = "the watch was not answered";

struct Process {
    queue: EventQueue<u8>,
    state: ProcessState,
    /// The number of times that the watch was found.
    answers: AtomicUsize,
}

impl Process {
    fn answer(&self) {
        // ORDERING: Relaxed: looked at when the threads are joined.
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    fn drain(&self) {
        // SAFETY: only the thread that ends the process drains, before its end.
        unsafe { self.queue.drain(|_watch| self.answer()) };
    }

    /// Empties the queue until the process has ended.
    fn complete(&self) {
        self.drain();
        while self.state.complete().unwrap() == Ending::Drain {
            self.drain();
        }
    }
}

/// Watches as `Handle::signal` and `Handle::attach` do.
fn watch(process: &Process) {
    if process.queue.push(7).is_err() {
        return process.answer();
    }
    let wake = process.state.wake(Reason::Message);
    if wake == Wake::Dispose {
        // As the table does it. One thread comes too late here, so this is said once.
        let first = process.state.dispose();
        assert_eq!(first, Ok(Disposal::Drain { vacated: false }));
        // SAFETY: told to dispose: this thread has the queue.
        unsafe { process.queue.drain(drop) };
        assert_eq!(process.state.dispose(), Ok(Disposal::Done));
    }
    if matches!(wake, Wake::Refused | Wake::Dispose) && process.queue.is_closed() {
        process.answer();
    }
}

/// Ends the process as its worker does.
fn end(process: &Process) {
    process.queue.close();
    process.complete();
}

/// Turns the process away as `Handle::vacate` does.
fn turn_away(process: &Process) {
    process.state.submit().unwrap();
    process.state.start().unwrap();
    end(process);
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
    let watcher = beside(&process, watch);
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
    Bound::exhaustive(50)
        .outcomes("an end answers", || meet(true, watch, end))
        .assert_exactly([1, 2]);
}

#[test]
fn a_refused_start_answers_a_watch() {
    Bound::exhaustive(25)
        .outcomes("a refusal answers", || meet(false, watch, turn_away))
        .assert_exactly([1, 2]);
}

/// The drain passes over a push that is under way, whose wake-up is then still noted.
#[test]
fn an_end_that_does_not_drain_again_misses_a_watch() {
    Bound::exhaustive(1).refute("no second drain", UNANSWERED, || {
        meet(true, watch, |process| {
            process.queue.close();
            process.drain();
            while process.state.complete().unwrap() == Ending::Drain {}
        });
    });
}

/// The wake-up of a process that has not begun is refused, and leaves the watch to what comes next.
#[test]
fn a_submitter_that_takes_no_edge_misses_a_watch() {
    Bound::exhaustive(1).refute(
        "the submitter drains, and takes no edge",
        UNANSWERED,
        || {
            meet(false, watch, |process| {
                process.queue.close();
                process.drain();
            });
        },
    );
}

/// A refused wake-up means the end only if the process has started.
#[test]
fn a_watcher_that_trusts_the_closing_alone_is_missed() {
    Bound::exhaustive(1).refute("the watcher asks before it wakes", UNANSWERED, || {
        let hasty = |process: &Process| {
            if process.queue.push(7).is_err() || process.queue.is_closed() {
                return process.answer();
            }
            let _ = process.state.wake(Reason::Message);
        };
        meet(true, hasty, end);
    });
}
