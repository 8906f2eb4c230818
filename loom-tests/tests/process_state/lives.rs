//! Turns and lives: each sees what the one before it left.

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_process_state::{Ending, ProcessState, Reason, State, Wake};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::toy::{End, Toy};

/// Three threads. One worker runs the process and yields, idles or blocks; a waker may enqueue it;
/// a second worker takes the entry. The first turn's writes into the process must be ordered before
/// the second turn: loom reports a race on `seen` if not.
#[test]
fn a_turn_happens_before_the_next_on_another_worker() {
    for end in [End::Yield, End::Idle, End::Block] {
        Bound::exhaustive(15_000)
            .outcomes("two workers and a waker", move || {
                let toy = Toy::submitted();
                let worker = beside(&toy, move |toy| toy.turn(end));
                let waker = beside(&toy, |toy| toy.send(0, Reason::Completion));
                let own = toy.turn(end);
                let other = worker.join().unwrap();
                let _ = waker.join().unwrap();
                if matches!(end, End::Yield) {
                    // It would yield for ever.
                    assert!(toy.turn(End::Idle));
                }
                assert_eq!(toy.settle(End::Idle), [true, false], "the wake-up was lost");
                (own, other)
            })
            .assert_exactly([(true, true), (true, false), (false, true)]);
    }
}

/// Two threads. The worker ends the life; a waker comes. If it comes before the end, a drain of the
/// worker sees its event; if it comes after the end, the waker disposes of it. Failure: an event
/// that nobody sees; loom reports a race on `seen`.
#[test]
fn a_wake_up_races_the_end() {
    Bound::exhaustive(60)
        .outcomes("a message races complete", || {
            let toy = Toy::submitted();
            let worker = beside(&toy, |toy| assert!(toy.turn(End::Complete)));
            let wake = toy.send(0, Reason::Message);
            worker.join().unwrap();
            assert_eq!(toy.entries.load(Ordering::Relaxed), 0);
            assert_eq!(toy.settle(End::Complete), [true, false], "it was lost");
            wake
        })
        .assert_exactly([Wake::Noted, Wake::Dispose]);
}

/// Three threads. The worker ends the life; two wakers come, or one and a failed push, which does
/// not keep the process from ending; so the worker vacates the place, too. The last of the three
/// sees what the others have left: a waker that finds another one disposing leaves its event to
/// that one. Failure: an event that nobody sees; loom reports a race on `seen`, as two empty the
/// queue at once.
#[test]
fn the_last_of_two_wakers_and_the_end_sees_all() {
    for retracts in [false, true] {
        Bound::preemptions(3, 1_000)
            .outcomes("two race complete", move || {
                let toy = Toy::submitted();
                let first = beside(&toy, |toy| toy.send(0, Reason::Message));
                let second = beside(&toy, move |toy| {
                    if retracts {
                        toy.retract(1)
                    } else {
                        toy.send(1, Reason::Completion)
                    }
                });
                assert!(toy.turn(End::Complete));
                if retracts && toy.state.vacate().unwrap() {
                    toy.dispose();
                }
                let wakes = (first.join().unwrap(), second.join().unwrap());
                assert_eq!(toy.settle(End::Complete), [true, true], "one was lost");
                wakes
            })
            .assert_reached([
                (Wake::Noted, Wake::Noted),
                (Wake::Noted, Wake::Dispose),
                (Wake::Dispose, Wake::Noted),
                // At the same time, and one after the other.
                (Wake::Dispose, Wake::Refused),
                (Wake::Refused, Wake::Dispose),
                (Wake::Dispose, Wake::Dispose),
            ]);
    }
}

/// Three threads. The last user vacates the place of an ended process; a waker comes, and a failed
/// push. The thread that has the queue last learns that the place is vacated, and could give it
/// away. Failure: nobody learns it; loom reports a race on `seen`, as two have the queue, or on
/// `place`, as it is given away before its last user has left; an event that nobody sees.
#[test]
fn a_place_is_vacated_beside_late_wakers() {
    Bound::preemptions(3, 23_000)
        .outcomes("vacate races two", || {
            let toy = Toy::submitted();
            assert!(toy.turn(End::Complete));
            let wakers = [0, 1].map(|event| {
                beside(&toy, move |toy| {
                    toy.push(event);
                    let wake = if event == 0 {
                        toy.state.wake(Reason::Message)
                    } else {
                        toy.state.retract()
                    };
                    (wake, wake == Wake::Dispose && toy.dispose())
                })
            });
            toy.touch_place();
            let own = toy.state.vacate().unwrap();
            if own {
                // No edge between them: the table also looks whether the queue is empty.
                toy.drain();
            }
            let told = own && toy.dispose();
            let met = wakers.map(|waker| waker.join().unwrap());
            assert_eq!(toy.settle(End::Complete), [true, true], "one was lost");
            assert!(
                told || met.iter().any(|&(_, told)| told),
                "nobody learns that the place is vacated"
            );
            assert_eq!(own, told, "it is the first to know");
            (own, met.map(|(wake, _)| wake))
        })
        .assert_reached([
            (true, [Wake::Dispose, Wake::Dispose]),
            (true, [Wake::Refused, Wake::Refused]),
            (false, [Wake::Dispose, Wake::Refused]),
            (false, [Wake::Refused, Wake::Dispose]),
            (false, [Wake::Dispose, Wake::Dispose]),
        ]);
}

/// Two threads. One ends a life; the other sees Complete, by a `submit` that succeeds or by a
/// snapshot. What the life left must be visible, and writable. Failure: loom reports a race on
/// `seen`.
#[test]
fn a_life_happens_before_the_sight_of_its_end() {
    for by_snapshot in [false, true] {
        Bound::exhaustive(10)
            .outcomes("complete races submit", move || {
                let toy = Toy::submitted();
                assert!(toy.take_entry());
                toy.state.start().unwrap();
                let crossing = Crossing::new();
                let worker = beside(&toy, {
                    let crossing = crossing.clone();
                    move |toy| {
                        toy.drain();
                        crossing.pass();
                        assert_eq!(toy.state.complete(), Ok(Ending::Over));
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
                worker.join().unwrap();
                over
            })
            .assert_exactly([false, true]);
    }
}

/// Two threads. One writes and submits a slot; the other starts it, as it sees Ready in the word.
/// Failure: loom reports a race on `seen`.
#[test]
fn a_submission_happens_before_the_first_turn() {
    Bound::exhaustive(6)
        .outcomes("submit races start", || {
            let toy = Toy::new();
            let submitter = beside(&toy, |toy| {
                // SAFETY: the slot is empty: nobody runs it before `submit`.
                toy.seen.with_mut(|seen| unsafe { *seen = [true; 2] });
                toy.submit();
            });
            let was_submitted = toy.turn(End::Idle);
            submitter.join().unwrap();
            assert_eq!(toy.settle(End::Idle), [true, true]);
            was_submitted
        })
        .assert_exactly([false, true]);
}

/// Two threads. A late waker of the old life meets the submission of a new one: it is refused, or
/// at worst sets a flag that costs a turn without events. Failure: a second entry (`enqueue`
/// asserts it), or a life that does not start.
#[test]
fn a_late_wake_up_meets_a_new_life() {
    Bound::exhaustive(350)
        .outcomes("a late wake-up meets a new life", || {
            let toy = Toy::new();
            let waker = beside(&toy, |toy| toy.send(0, Reason::Message));
            toy.submit();
            assert!(toy.turn(End::Block));
            let wake = waker.join().unwrap();
            let _ = toy.settle(End::Block);
            assert_eq!(toy.state.state(), State::Blocked);
            wake
        })
        .assert_exactly([Wake::Refused, Wake::Noted]);
}

/// Three threads. A submitter writes a word of the slot that a run queue reads before a turn (the
/// thread that the process is bound to), submits, runs the first turn, and lets go. A late waker of
/// the life before makes the process Ready, and hands the entry to a worker, which reads the word
/// before it starts the process. The worker must see the word of this life: only the waker orders
/// its read. Failure: it sees the word of the life before.
#[test]
fn a_late_waker_that_enqueues_hands_on_what_the_submitter_wrote() {
    Bound::exhaustive(1_400)
        .outcomes("a late waker enqueues", || {
            let slot = Arc::new((ProcessState::new_complete(), AtomicU32::new(0)));
            let queue = Arc::new(AtomicBool::new(false));
            let waker = beside_both(&slot, &queue, move |slot, queue| {
                if slot.0.wake(Reason::Message) == Wake::Enqueue {
                    queue.store(true, Ordering::Release);
                }
            });
            let worker = beside_both(&slot, &queue, move |slot, queue| {
                let taken = queue.load(Ordering::Acquire);
                if taken {
                    assert_eq!(slot.1.load(Ordering::Relaxed), 1, "the life before");
                    slot.0.start().unwrap();
                }
                taken
            });
            slot.1.store(1, Ordering::Relaxed);
            slot.0.submit().unwrap();
            slot.0.start().unwrap();
            let _ = slot.0.idle().unwrap();
            waker.join().unwrap();
            worker.join().unwrap()
        })
        .assert_exactly([false, true]);
}

/// Two threads that break the rule: both try to start the process, and both to let go of it.
/// One gets each edge, and the word stays sound. Failure: both start, or a Ready process without an
/// entry.
#[test]
fn misuse_by_two_workers_gives_the_edge_to_one() {
    Bound::exhaustive(45)
        .outcomes("two workers start one process", || {
            let toy = Toy::submitted();
            assert!(toy.take_entry());
            let other = beside(&toy, |toy| toy.state.start().is_ok());
            let own = toy.state.start().is_ok();
            let started = (own, other.join().unwrap());
            assert_eq!(toy.state.state(), State::Running);

            let other = beside(&toy, |toy| toy.state.idle().is_ok());
            let own = toy.state.complete().is_ok();
            assert_ne!(own, other.join().unwrap(), "both let go, or neither");
            started
        })
        .assert_exactly([(true, false), (false, true)]);
}
