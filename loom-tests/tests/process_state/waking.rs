//! Wake-ups: none is lost, and none enqueues twice.

use filch_models::{Bound, beside};
use filch_process_state::{Reason, State, Wake};
use filch_sync::atomic::Ordering;

use super::toy::{End, Toy};

/// Two threads: a waker against the worker that runs the process and lets go of it. One of them
/// gets `Enqueue`, or nobody does if the queued turn already saw the event. A lost wake-up shows as
/// an event that no turn saw.
#[test]
fn a_wake_up_races_a_turn() {
    for (claim, reason, end) in [
        ("a message races idle", Reason::Message, End::Idle),
        ("a completion races idle", Reason::Completion, End::Idle),
        ("a cancel races idle", Reason::Cancel, End::Idle),
        ("a completion races block", Reason::Completion, End::Block),
        ("a cancel races block", Reason::Cancel, End::Block),
    ] {
        Bound::exhaustive(800)
            .outcomes(claim, move || {
                let toy = Toy::submitted();
                let worker = beside(&toy, move |toy| assert!(toy.turn(end)));
                let waker = beside(&toy, move |toy| toy.send(0, reason));
                let wake = waker.join().unwrap();
                worker.join().unwrap();
                let entries = toy.entries.load(Ordering::Relaxed);
                assert_eq!(toy.settle(end), [true, false], "{claim}: it was lost");
                (wake, entries)
            })
            // Before the turn or during it, with and without a spurious turn; or after it, and then
            // the waker enqueues.
            .assert_exactly([(Wake::Noted, 0), (Wake::Noted, 1), (Wake::Enqueue, 1)]);
    }
}

/// Two threads. The worker runs the process, which blocks; a message comes before, during or after.
/// It wakes nobody; the turn that the completion brings sees it, if none did before. Failure: an
/// entry in the queue, or the message unseen.
#[test]
fn a_message_does_not_wake_a_blocked_process() {
    Bound::exhaustive(800)
        .outcomes("a message races block", || {
            let toy = Toy::submitted();
            let worker = beside(&toy, |toy| assert!(toy.turn(End::Block)));
            let waker = beside(&toy, |toy| toy.send(0, Reason::Message));
            assert_eq!(waker.join().unwrap(), Wake::Noted);
            worker.join().unwrap();
            assert_eq!(toy.state.state(), State::Blocked);
            assert_eq!(toy.entries.load(Ordering::Relaxed), 0);
            let seen_before = toy.seen()[0];
            assert_eq!(toy.send(1, Reason::Completion), Wake::Enqueue);
            assert_eq!(toy.settle(End::Block), [true, true]);
            seen_before
        })
        .assert_exactly([false, true]);
}

/// Three threads. A process is blocked; one waker brings a message, one the completion, a worker
/// looks for work. The message's sender must never be told to enqueue; the message must be seen by
/// the completion's turn or a later one.
///
/// There is one exception: the message's wake-up comes after the turn began, which did not see it,
/// and the process blocks again. Then the flag must have stayed.
#[test]
fn a_message_beside_the_completion_is_seen_or_stays_pending() {
    Bound::exhaustive(3_000)
        .outcomes("a message and a completion, a blocked process", || {
            let toy = Toy::waiting(End::Block);
            let sender = beside(&toy, |toy| toy.send(0, Reason::Message));
            let handler = beside(&toy, |toy| toy.send(1, Reason::Completion));
            toy.turn(End::Block);
            assert_eq!(handler.join().unwrap(), Wake::Enqueue);
            let wake = sender.join().unwrap();
            let [message, completion] = toy.settle(End::Block);
            assert!(completion, "the completion was lost");
            let pending = toy.state.snapshot().is_pending(Reason::Message);
            assert!(message || pending, "the message was lost");
            (wake, message, pending)
        })
        .assert_exactly([
            (Wake::Noted, true, false),
            (Wake::Noted, true, true),
            (Wake::Noted, false, true),
        ]);
}

/// Three threads. An idle process, two wakers, a worker that looks for work twice. In every
/// interleaving there is one entry at a time (`enqueue` asserts it), and both events are seen.
#[test]
fn two_wakers_and_a_worker() {
    Bound::exhaustive(80_000)
        .outcomes("two wakers and a worker", || {
            let toy = Toy::waiting(End::Idle);
            let first = beside(&toy, |toy| toy.send(0, Reason::Message));
            let second = beside(&toy, |toy| toy.send(1, Reason::Cancel));
            toy.turn(End::Idle);
            toy.turn(End::Idle);
            let answers = (first.join().unwrap(), second.join().unwrap());
            assert_eq!(toy.settle(End::Idle), [true, true], "a wake-up was lost");
            answers
        })
        .assert_exactly([
            (Wake::Enqueue, Wake::Noted),
            (Wake::Noted, Wake::Enqueue),
            // A whole turn between them.
            (Wake::Enqueue, Wake::Enqueue),
        ]);
}

/// Two threads, and nobody runs the process: exactly one of two wakers is told to enqueue. Failure:
/// both, or neither.
#[test]
fn one_of_two_wakers_enqueues() {
    Bound::exhaustive(4)
        .outcomes("one of two wakers enqueues", || {
            let toy = Toy::waiting(End::Idle);
            let other = beside(&toy, |toy| toy.send(0, Reason::Completion));
            let own = toy.send(1, Reason::Message);
            let answers = (other.join().unwrap(), own);
            assert_eq!(toy.settle(End::Idle), [true, true]);
            answers
        })
        .assert_exactly([(Wake::Enqueue, Wake::Noted), (Wake::Noted, Wake::Enqueue)]);
}

/// Two threads. The process is Ready with its message flag set; a second message comes just as a
/// worker starts it. The waker's edge changes nothing in the word, but still orders its push.
/// Failure: the second event unseen.
#[test]
fn a_wake_up_that_changes_nothing_still_counts() {
    Bound::exhaustive(60)
        .outcomes("a second message races start", || {
            let toy = Toy::waiting(End::Idle);
            assert_eq!(toy.send(0, Reason::Message), Wake::Enqueue);
            let worker = beside(&toy, |toy| assert!(toy.turn(End::Idle)));
            let wake = toy.send(1, Reason::Message);
            worker.join().unwrap();
            let entries = toy.entries.load(Ordering::Relaxed);
            assert_eq!(toy.settle(End::Idle), [true, true], "the wake-up was lost");
            (wake, entries)
        })
        .assert_exactly([(Wake::Noted, 0), (Wake::Noted, 1), (Wake::Enqueue, 1)]);
}

/// Three threads. One looks at a waiting process; a waker comes; a worker takes the entry, if there
/// is one. A failure: the event is lost, as the look has consumed its flag; or loom reports a race
/// on the process between the look and a turn.
#[test]
fn a_look_loses_no_wake_up() {
    Bound::exhaustive(5_900)
        .outcomes("a look races a message", || {
            let toy = Toy::waiting(End::Idle);
            let waker = beside(&toy, |toy| toy.send(0, Reason::Message));
            let worker = beside(&toy, |toy| toy.turn(End::Idle));
            let looked = toy.look();
            let wake = waker.join().unwrap();
            let turn = worker.join().unwrap();
            assert_eq!(toy.settle(End::Idle), [true, false], "the wake-up was lost");
            (wake, looked, turn)
        })
        .assert_exactly([
            // Before the look, which finds the process Ready; or after it, or after a turn.
            (Wake::Enqueue, false, false),
            (Wake::Enqueue, true, false),
            (Wake::Enqueue, false, true),
            (Wake::Enqueue, true, true),
            // During the look, whose end enqueues.
            (Wake::Noted, true, false),
            (Wake::Noted, true, true),
        ]);
}
