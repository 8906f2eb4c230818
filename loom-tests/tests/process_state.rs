//! Models of a process's state: a toy scheduler around the real word.
//!
//! Everything in the toy is relaxed, its run queue too: what a worker sees, it sees through the
//! word alone.
#![cfg(loom)]

use filch_process_state::{ProcessState, Reason, Release, State, Wake};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, Outcomes, check};

/// How a turn of the toy ends.
#[derive(Clone, Copy)]
enum End {
    Idle,
    Block,
    Yield,
    Complete,
}

/// One process with two event slots, one per waker, and a run queue that has room for it once.
struct Toy {
    state: ProcessState,
    /// Entries in the run queue.
    entries: AtomicUsize,
    /// 1 once the event was pushed.
    events: [AtomicUsize; 2],
    /// The process itself: which events its turns have seen. loom fails the model if two workers
    /// touch it unordered.
    seen: UnsafeCell<[bool; 2]>,
}

// SAFETY: `seen` is touched only between `start` and the edge that lets go: what the models check.
unsafe impl Sync for Toy {}
// SAFETY: plain data.
unsafe impl Send for Toy {}

impl Toy {
    /// Complete, and nowhere queued.
    fn new() -> Arc<Self> {
        Arc::new(Self {
            state: ProcessState::new_complete(),
            entries: AtomicUsize::new(0),
            events: [AtomicUsize::new(0), AtomicUsize::new(0)],
            seen: UnsafeCell::new([false; 2]),
        })
    }

    /// Submitted, and queued.
    fn submitted() -> Arc<Self> {
        let toy = Self::new();
        toy.submit();
        toy
    }

    /// Submitted, and let go of once.
    fn waiting(end: End) -> Arc<Self> {
        let toy = Self::submitted();
        assert!(toy.turn(end));
        toy
    }

    fn submit(&self) {
        self.state.submit().expect("an empty slot");
        self.enqueue();
    }

    fn enqueue(&self) {
        let before = self.entries.fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "enqueued twice");
    }

    /// Pushes event number `event`, then wakes.
    fn send(&self, event: usize, reason: Reason) -> Wake {
        self.events[event].store(1, Ordering::Relaxed);
        let wake = self.state.wake(reason);
        if wake == Wake::Enqueue {
            self.enqueue();
        }
        wake
    }

    fn take_entry(&self) -> bool {
        self.entries
            .compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    fn drain(&self) {
        // SAFETY: the caller started the process and has not let go of it, or has ended its life.
        self.seen.with_mut(|seen| unsafe {
            for (event, slot) in self.events.iter().enumerate() {
                (*seen)[event] |= slot.load(Ordering::Relaxed) == 1;
            }
        });
    }

    /// Runs one turn if the process is queued; whether it was.
    fn turn(&self, end: End) -> bool {
        if !self.take_entry() {
            return false;
        }
        self.state.start().expect("an entry means Ready");
        self.drain();
        let released = match end {
            End::Idle => self.state.idle(),
            End::Block => self.state.block(),
            End::Yield => self.state.yield_now(),
            End::Complete => {
                self.state.complete().expect("this worker runs it");
                self.drain();
                return true;
            }
        };
        if released == Ok(Release::Enqueue) {
            self.enqueue();
        }
        assert!(released.is_ok(), "this worker runs it");
        true
    }

    /// What the turns saw, after all threads were joined and the queue ran dry.
    fn settle(&self, end: End) -> [bool; 2] {
        while self.turn(end) {}
        assert_ne!(self.state.state(), State::Ready, "Ready, and not queued");
        assert_ne!(
            self.state.state(),
            State::Running,
            "Running, and no worker has it"
        );
        self.seen()
    }

    fn seen(&self) -> [bool; 2] {
        // SAFETY: all other threads were joined.
        self.seen.with(|seen| unsafe { *seen })
    }
}

fn spawn<R: 'static>(toy: &Arc<Toy>, f: impl FnOnce(&Toy) -> R + 'static) -> thread::JoinHandle<R> {
    let toy = Arc::clone(toy);
    thread::spawn(move || f(&toy))
}

/// A waker against the worker that runs the process and lets go of it. `Enqueue` is answered to one
/// of them, or to nobody, if the turn that was queued anyhow saw the event. A lost wake-up shows as
/// an event that no turn saw.
fn wake_races_a_turn(claim: &str, at_least: u64, reason: Reason, end: End) {
    let answers = Outcomes::new();
    check(claim, Bound::exhaustive(at_least), {
        let answers = answers.clone();
        move || {
            let toy = Toy::submitted();
            let worker = spawn(&toy, move |toy| assert!(toy.turn(end)));
            let waker = spawn(&toy, move |toy| toy.send(0, reason));
            let wake = waker.join().unwrap();
            worker.join().unwrap();
            answers.observe((wake, toy.entries.load(Ordering::Relaxed)));
            assert_eq!(toy.settle(end), [true, false], "the wake-up was lost");
        }
    });
    // Before the turn or during it, with and without a spurious turn; or after it, and then the
    // waker enqueues.
    answers.assert_exactly([(Wake::Noted, 0), (Wake::Noted, 1), (Wake::Enqueue, 1)]);
}

/// Two threads. A message comes while the process goes idle.
#[test]
fn a_message_races_idle() {
    wake_races_a_turn("a message races idle", 800, Reason::Message, End::Idle);
}

/// Two threads. A completion comes while the process goes idle: it wakes, too.
#[test]
fn a_completion_races_idle() {
    wake_races_a_turn(
        "a completion races idle",
        800,
        Reason::Completion,
        End::Idle,
    );
}

/// Two threads. The end is asked for while the process goes idle.
#[test]
fn a_cancel_races_idle() {
    wake_races_a_turn("a cancel races idle", 800, Reason::Cancel, End::Idle);
}

/// Two threads. A completion comes while the process blocks.
#[test]
fn a_completion_races_block() {
    wake_races_a_turn(
        "a completion races block",
        800,
        Reason::Completion,
        End::Block,
    );
}

/// Two threads. The end is asked for while the process blocks.
#[test]
fn a_cancel_races_block() {
    wake_races_a_turn("a cancel races block", 800, Reason::Cancel, End::Block);
}

/// Two threads. The worker runs the process, which blocks; a message comes before, during or after.
/// It wakes nobody; the turn that the completion brings sees it, if none did before. Failure: an
/// entry in the queue, or the message unseen.
#[test]
fn a_message_does_not_wake_a_blocked_process() {
    let earlier = Outcomes::new();
    check("a message races block", Bound::exhaustive(800), {
        let earlier = earlier.clone();
        move || {
            let toy = Toy::submitted();
            let worker = spawn(&toy, |toy| assert!(toy.turn(End::Block)));
            let waker = spawn(&toy, |toy| toy.send(0, Reason::Message));
            assert_eq!(waker.join().unwrap(), Wake::Noted);
            worker.join().unwrap();
            assert_eq!(toy.state.state(), State::Blocked);
            assert_eq!(toy.entries.load(Ordering::Relaxed), 0);
            earlier.observe(toy.seen()[0]);
            assert_eq!(toy.send(1, Reason::Completion), Wake::Enqueue);
            assert_eq!(toy.settle(End::Block), [true, true]);
        }
    });
    earlier.assert_exactly([false, true]);
}

/// Three threads. A blocked process; one waker brings a message, one the completion, a worker looks
/// for work. The message's sender must never be told to enqueue; the message must be seen by the
/// turn of the completion or a later one.
///
/// The one case in which it is not: the message's wake-up comes after the turn began, which did not
/// see it, and the process blocks again. Then the flag must have stayed.
#[test]
fn a_message_beside_the_completion_is_seen_or_stays_pending() {
    let outcomes = Outcomes::new();
    check(
        "a message and a completion, a blocked process",
        Bound::exhaustive(3_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let toy = Toy::waiting(End::Block);
                let sender = spawn(&toy, |toy| toy.send(0, Reason::Message));
                let handler = spawn(&toy, |toy| toy.send(1, Reason::Completion));
                toy.turn(End::Block);
                assert_eq!(handler.join().unwrap(), Wake::Enqueue);
                let wake = sender.join().unwrap();
                let [message, completion] = toy.settle(End::Block);
                assert!(completion, "the completion was lost");
                let pending = toy.state.snapshot().is_pending(Reason::Message);
                assert!(message || pending, "the message was lost");
                outcomes.observe((wake, message, pending));
            }
        },
    );
    outcomes.assert_exactly([
        (Wake::Noted, true, false),
        (Wake::Noted, true, true),
        (Wake::Noted, false, true),
    ]);
}

/// Three threads. An idle process, two wakers, a worker that looks for work twice. However they
/// interleave, there is one entry at a time (`enqueue` asserts it), and both events are seen.
#[test]
fn two_wakers_and_a_worker() {
    let answers = Outcomes::new();
    check("two wakers and a worker", Bound::exhaustive(80_000), {
        let answers = answers.clone();
        move || {
            let toy = Toy::waiting(End::Idle);
            let first = spawn(&toy, |toy| toy.send(0, Reason::Message));
            let second = spawn(&toy, |toy| toy.send(1, Reason::Cancel));
            toy.turn(End::Idle);
            toy.turn(End::Idle);
            answers.observe((first.join().unwrap(), second.join().unwrap()));
            assert_eq!(toy.settle(End::Idle), [true, true], "a wake-up was lost");
        }
    });
    answers.assert_exactly([
        (Wake::Enqueue, Wake::Noted),
        (Wake::Noted, Wake::Enqueue),
        // A whole turn between them.
        (Wake::Enqueue, Wake::Enqueue),
    ]);
}

/// Two threads, nobody runs the process: of two wakers exactly one is told to enqueue. Failure:
/// both, or neither.
#[test]
fn one_of_two_wakers_enqueues() {
    let answers = Outcomes::new();
    check("one of two wakers enqueues", Bound::exhaustive(4), {
        let answers = answers.clone();
        move || {
            let toy = Toy::waiting(End::Idle);
            let other = spawn(&toy, |toy| toy.send(0, Reason::Completion));
            let own = toy.send(1, Reason::Message);
            answers.observe((other.join().unwrap(), own));
            assert_eq!(toy.settle(End::Idle), [true, true]);
        }
    });
    answers.assert_exactly([(Wake::Enqueue, Wake::Noted), (Wake::Noted, Wake::Enqueue)]);
}

/// Two threads. The process is Ready with its message flag set; a second message comes just as a
/// worker starts it. The waker's edge changes nothing in the word, and is still what orders its
/// push. Failure: the second event unseen.
#[test]
fn a_wake_up_that_changes_nothing_still_counts() {
    let outcomes = Outcomes::new();
    check("a second message races start", Bound::exhaustive(60), {
        let outcomes = outcomes.clone();
        move || {
            let toy = Toy::waiting(End::Idle);
            assert_eq!(toy.send(0, Reason::Message), Wake::Enqueue);
            let worker = spawn(&toy, |toy| assert!(toy.turn(End::Idle)));
            let wake = toy.send(1, Reason::Message);
            worker.join().unwrap();
            outcomes.observe((wake, toy.entries.load(Ordering::Relaxed)));
            assert_eq!(toy.settle(End::Idle), [true, true], "the wake-up was lost");
        }
    });
    outcomes.assert_exactly([(Wake::Noted, 0), (Wake::Noted, 1), (Wake::Enqueue, 1)]);
}

/// Three threads. One worker runs the process and yields, idles or blocks; a waker may enqueue it;
/// a second worker takes the entry. What the first turn wrote into the process must be ordered
/// before the second: loom reports a race on `seen` if not.
#[test]
fn a_turn_happens_before_the_next_on_another_worker() {
    for end in [End::Yield, End::Idle, End::Block] {
        let turns = Outcomes::new();
        check("two workers and a waker", Bound::exhaustive(15_000), {
            let turns = turns.clone();
            move || {
                let toy = Toy::submitted();
                let worker = spawn(&toy, move |toy| toy.turn(end));
                let waker = spawn(&toy, |toy| toy.send(0, Reason::Completion));
                let own = toy.turn(end);
                let other = worker.join().unwrap();
                let _ = waker.join().unwrap();
                turns.observe((own, other));
                if matches!(end, End::Yield) {
                    // It would yield for ever.
                    assert!(toy.turn(End::Idle));
                }
                assert_eq!(toy.settle(End::Idle), [true, false], "the wake-up was lost");
            }
        });
        turns.assert_exactly([(true, true), (true, false), (false, true)]);
    }
}

/// Two threads. The worker ends the life; a waker comes. Unless it is refused, the last drain sees
/// its event. A refused event may be seen by that drain or not. Failure: noted, and not drained.
#[test]
fn a_wake_up_races_the_end() {
    let outcomes = Outcomes::new();
    check("a message races complete", Bound::exhaustive(70), {
        let outcomes = outcomes.clone();
        move || {
            let toy = Toy::submitted();
            let worker = spawn(&toy, |toy| assert!(toy.turn(End::Complete)));
            let wake = toy.send(0, Reason::Message);
            worker.join().unwrap();
            assert_eq!(toy.entries.load(Ordering::Relaxed), 0);
            outcomes.observe((wake, toy.settle(End::Complete)[0]));
        }
    });
    outcomes.assert_exactly([
        (Wake::Noted, true),
        (Wake::Refused, true),
        (Wake::Refused, false),
    ]);
}

/// Two threads. One ends a life; the other sees Complete, by `submit` that succeeds or by a
/// snapshot. What the life left must be visible, and writable. Failure: loom reports a race on
/// `seen`.
#[test]
fn a_life_happens_before_who_sees_its_end() {
    for by_snapshot in [false, true] {
        let outcomes = Outcomes::new();
        check("complete races submit", Bound::exhaustive(10), {
            let outcomes = outcomes.clone();
            move || {
                let toy = Toy::submitted();
                assert!(toy.take_entry());
                toy.state.start().unwrap();
                let crossing = Crossing::new();
                let worker = spawn(&toy, {
                    let crossing = crossing.clone();
                    move |toy| {
                        toy.drain();
                        crossing.pass();
                        toy.state.complete().unwrap();
                    }
                });
                crossing.pass();
                let over = if by_snapshot {
                    toy.state.state() == State::Complete
                } else {
                    toy.state.submit().is_ok()
                };
                if over {
                    // SAFETY: the life is over, and this is the only thread that waits for its end.
                    toy.seen.with_mut(|seen| unsafe { *seen = [false; 2] });
                }
                outcomes.observe(over);
                worker.join().unwrap();
            }
        });
        outcomes.assert_exactly([false, true]);
    }
}

/// Two threads. A slot is written and submitted by one, started by the other, which sees Ready in
/// the word. Failure: loom reports a race on `seen`.
#[test]
fn a_submission_happens_before_the_first_turn() {
    let outcomes = Outcomes::new();
    check("submit races start", Bound::exhaustive(6), {
        let outcomes = outcomes.clone();
        move || {
            let toy = Toy::new();
            let submitter = spawn(&toy, |toy| {
                // SAFETY: the slot is empty: nobody runs it before `submit`.
                toy.seen.with_mut(|seen| unsafe { *seen = [true; 2] });
                toy.submit();
            });
            outcomes.observe(toy.turn(End::Idle));
            submitter.join().unwrap();
            assert_eq!(toy.settle(End::Idle), [true, true]);
        }
    });
    outcomes.assert_exactly([false, true]);
}

/// Two threads. A late waker of the old life meets the submission of a new one: refused, or a flag
/// that costs a turn without events at worst; never a second entry (`enqueue` asserts it), never a
/// life that does not start.
#[test]
fn a_late_wake_up_meets_a_new_life() {
    let answers = Outcomes::new();
    check("a late wake-up meets a new life", Bound::exhaustive(350), {
        let answers = answers.clone();
        move || {
            let toy = Toy::new();
            let waker = spawn(&toy, |toy| toy.send(0, Reason::Message));
            toy.submit();
            assert!(toy.turn(End::Block));
            answers.observe(waker.join().unwrap());
            let _ = toy.settle(End::Block);
            assert_eq!(toy.state.state(), State::Blocked);
        }
    });
    answers.assert_exactly([Wake::Refused, Wake::Noted]);
}

/// Two threads that break the rule: both start the process, and both let go of it if they could.
/// One gets each edge, and the word stays sound. Failure: both start, or a Ready process without an
/// entry.
#[test]
fn misuse_by_two_workers_gives_the_edge_to_one() {
    let outcomes = Outcomes::new();
    check("two workers start one process", Bound::exhaustive(45), {
        let outcomes = outcomes.clone();
        move || {
            let toy = Toy::submitted();
            assert!(toy.take_entry());
            let other = spawn(&toy, |toy| toy.state.start().is_ok());
            let own = toy.state.start().is_ok();
            outcomes.observe((own, other.join().unwrap()));
            assert_eq!(toy.state.state(), State::Running);

            let other = spawn(&toy, |toy| toy.state.idle().is_ok());
            let own = toy.state.complete().is_ok();
            assert_ne!(own, other.join().unwrap(), "both let go, or neither");
        }
    });
    outcomes.assert_exactly([(true, false), (false, true)]);
}
