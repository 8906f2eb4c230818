//! Races of messages, which are sent without a pin, with the end of the process and the next
//! occupant of its slot.

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_scheduler::Pid;
use filch_sync::{Arc, thread};

use super::{Table, assert_given_back, next_occupant, one_occupant};

fn end(table: &Table, pid: Pid) {
    // SAFETY: the caller has started it, and ends it once.
    unsafe { table.end(pid, Arc::new(0)) };
}

fn receive(table: &Table, pid: Pid) -> Vec<usize> {
    // SAFETY: the caller has started the process.
    let messages = unsafe { table.receive(pid) };
    messages.into_iter().map(|message| *message).collect()
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Sent {
    /// The message was taken; no turn was asked for.
    Taken,
    /// The message was taken, and the wake-up made a process Ready: the second occupant, since the
    /// first never waits.
    Woke,
    /// The message was handed back.
    Refused,
}

fn sent(sent: Result<bool, Arc<usize>>) -> Sent {
    match sent {
        Ok(false) => Sent::Taken,
        Ok(true) => Sent::Woke,
        Err(_) => Sent::Refused,
    }
}

/// Two threads. A process ends, and another one moves in, takes a turn, and waits; the other thread
/// sends to the first, at any moment of this. The sender may sleep between its claim and its end as
/// the place is left: then the second process gets another place. It may sleep through all of it,
/// and wake the second process instead of the first: which takes a turn for nothing. Failure: the
/// second process gets the message; the message is dropped twice, or never; the second process is
/// Ready twice, or sleeps through its own wake-up; a place is lost, or let twice.
#[test]
fn a_late_message_reaches_nobody() {
    Bound::preemptions(3, 1_500)
        .outcomes("a late message reaches nobody", || {
            let (table, first) = one_occupant();
            let (crossing, message) = (Crossing::new(), Arc::new(1));
            let sender = thread::spawn({
                let (table, crossing, message) = (table.clone(), crossing.clone(), message.clone());
                move || {
                    crossing.pass();
                    sent(table.send(first, message))
                }
            });
            crossing.pass();
            let heard = receive(&table, first);
            end(&table, first);
            table.drop_handle(first);
            crossing.pass();
            let second = next_occupant(&table);
            let place = second.slot();
            let early = receive(&table, second);
            let again = table.let_go(second);
            let met = sender.join().unwrap();
            if !again && met != Sent::Woke {
                assert_eq!(
                    sent(table.send(second, Arc::new(2))),
                    Sent::Woke,
                    "it waits"
                );
            }
            table.start(second);
            let late = receive(&table, second);
            assert_eq!(early, [], "a message for the first occupant");
            let own = usize::from(!again && met != Sent::Woke);
            assert_eq!(late, vec![2; own], "a message for the first occupant");
            assert!(heard.is_empty() || met != Sent::Refused);
            end(&table, second);
            table.drop_handle(second);
            assert_given_back(&table, 1 + place);
            assert_eq!(Arc::strong_count(&message), 1, "the message was kept");
            (met, heard.len(), place, again)
        })
        .assert_reached([
            // Heard in time; or dropped with the first.
            (Sent::Taken, 1, 0, false),
            (Sent::Taken, 0, 0, false),
            // Too late.
            (Sent::Refused, 0, 0, false),
            // Between claim and end, as the place is left.
            (Sent::Taken, 0, 1, false),
            // The wake-up is the second occupant's, who waits, or runs.
            (Sent::Woke, 1, 0, false),
            (Sent::Woke, 0, 0, false),
            (Sent::Taken, 1, 0, true),
            (Sent::Taken, 0, 0, true),
        ]);
}

/// Three threads. Two send to a process that ends. Whatever they have not finished when its place
/// is left is cleared away by themselves. Failure: a message or a place
/// that is lost, a place that is let twice; two that clean one queue at the same time.
#[test]
fn two_that_are_late_clear_away() {
    Bound::preemptions(2, 120_000)
        .outcomes("late senders clear away", || {
            let (table, pid) = one_occupant();
            let (crossing, message) = (Crossing::new(), Arc::new(1));
            let senders = [0, 1].map(|_| {
                let (table, crossing, message) = (table.clone(), crossing.clone(), message.clone());
                thread::spawn(move || {
                    crossing.pass();
                    sent(table.send(pid, message))
                })
            });
            crossing.pass();
            end(&table, pid);
            table.drop_handle(pid);
            let second = table.submit();
            let place = second.slot();
            let met = senders.map(|sender| sender.join().unwrap());
            table.start(second);
            assert_eq!(receive(&table, second), []);
            end(&table, second);
            table.drop_handle(second);
            assert_given_back(&table, 1 + place);
            assert_eq!(Arc::strong_count(&message), 1, "a message was kept");
            (met, place)
        })
        .assert_reached([
            ([Sent::Taken; 2], 0),
            ([Sent::Taken; 2], 1),
            ([Sent::Taken, Sent::Refused], 0),
            ([Sent::Taken, Sent::Refused], 1),
            ([Sent::Refused, Sent::Taken], 1),
            ([Sent::Refused; 2], 0),
        ]);
}

/// Two threads. Two processes live in one place, one after the other; the other thread sends to the
/// first, and may claim a place in the queue of the second, which it then cancels. The second may
/// end, and its place be left, between the two. Failure: the place is lost, as nobody clears away
/// what the sender has cancelled.
#[test]
fn a_place_is_not_lost_by_a_push_for_the_life_before() {
    Bound::preemptions(3, 14_000)
        .outcomes("a stale push loses no place", || {
            let (table, first) = one_occupant();
            let message = Arc::new(1);
            let sender = beside_both(&table, &message, move |table, message| {
                sent(table.send(first, message))
            });
            end(&table, first);
            table.drop_handle(first);
            let second = next_occupant(&table);
            let place = second.slot();
            end(&table, second);
            table.drop_handle(second);
            // Of two places, one may be given back later.
            let third = table.submit().slot();
            let met = sender.join().unwrap();
            assert_eq!(Arc::strong_count(&message), 1, "the message was kept");
            let places = 1 + place.max(third);
            let mut found: Vec<_> = (1..=places).map(|_| table.submit().slot()).collect();
            found.push(third);
            found.sort_unstable();
            assert_eq!(
                found,
                (0..=places).collect::<Vec<_>>(),
                "lost, or let twice"
            );
            (met, place, third)
        })
        .assert_reached([
            // The sender's claim is in the queue of the second as that one leaves.
            (Sent::Refused, 0, 1),
            (Sent::Refused, 0, 0),
            (Sent::Taken, 1, 1),
        ]);
}

/// Three threads. Two send to a process that ends, and whose handle is kept: so nobody vacates its
/// place. A sender may sleep between its claim and its end while the process ends and empties its
/// queue. Then whoever comes last of the three empties it again. Failure: a message is still there
/// when all three are done, or was dropped twice; two threads empty the queue at the same time; the
/// place is lost.
#[test]
fn nothing_stays_with_an_ended_process_whose_handle_is_kept() {
    Bound::preemptions(3, 20_000)
        .outcomes("nothing stays", || {
            let (table, pid) = one_occupant();
            let message = Arc::new(1);
            let senders = [0, 1].map(|_| {
                let (table, message) = (table.clone(), message.clone());
                thread::spawn(move || sent(table.send(pid, message)))
            });
            end(&table, pid);
            let is_there = |message| Arc::strong_count(message) > 1;
            let was_late = is_there(&message);
            let met = senders.map(|sender| sender.join().unwrap());
            assert!(!is_there(&message), "the message stays: its handle is kept");
            table.drop_handle(pid);
            assert_given_back(&table, 1);
            (met, was_late)
        })
        .assert_reached([
            ([Sent::Taken; 2], false),
            ([Sent::Taken; 2], true),
            ([Sent::Taken, Sent::Refused], true),
            ([Sent::Refused, Sent::Taken], true),
            ([Sent::Refused; 2], true),
        ]);
}

/// Two threads. A process ends, and nobody moves in; the other thread sends to the one that would
/// come next. Its queue may be open already. Failure: the message is taken.
#[test]
fn a_message_that_is_early_reaches_nobody() {
    Bound::exhaustive(19).check("an early message is refused", || {
        let (table, first) = one_occupant();
        let next = Pid::from_bits(first.to_bits() + 1);
        let sender = beside(&table, move |table| sent(table.send(next, Arc::new(1))));
        end(&table, first);
        table.drop_handle(first);
        assert_eq!(sender.join().unwrap(), Sent::Refused);
        assert_given_back(&table, 1);
    });
}

/// Two threads. A process ends while the other thread sends to it, clears away what it sent, and
/// submits the next one. Claim: the last thread out has cleared the place before. Failure: it
/// touches what the next occupant has there, which loom sees as a race.
#[test]
fn a_place_is_cleared_before_a_late_sender_gives_it_back() {
    Bound::exhaustive(2_400)
        .outcomes("a place is cleared before it is given back", || {
            let (table, pid) = one_occupant();
            let sender = beside(&table, move |table| {
                let _ = sent(table.send(pid, Arc::new(1)));
                let next = table.submit();
                table.start(next);
                // SAFETY: started just now, and ended once.
                unsafe { table.end(next, Arc::new(2)) };
                // SAFETY: the handle is this thread's, and has no exit yet.
                let exit = unsafe { table.join(next, None) };
                assert_eq!(exit.as_deref(), Some(&2), "the exit is lost");
                next.slot()
            });
            end(&table, pid);
            table.drop_handle(pid);
            sender.join().unwrap()
        })
        .assert_exactly([0, 1]);
}

/// Two threads. A process ends while the other thread sends to it, and nobody is submitted
/// afterwards. What a sender had not finished when the place was left, it clears away itself.
/// Failure: the message, or the place, is left to a submission that may never come.
#[test]
fn a_late_sender_clears_away_what_it_sent() {
    Bound::exhaustive(1_400)
        .outcomes("a late sender clears away", || {
            let (table, pid) = one_occupant();
            let message = Arc::new(1);
            let sender = beside_both(&table, &message, move |table, message| {
                sent(table.send(pid, message))
            });
            end(&table, pid);
            table.drop_handle(pid);
            let is_there = |message| Arc::strong_count(message) > 1;
            let was_late = is_there(&message);
            let met = sender.join().unwrap();
            assert!(!is_there(&message), "the message stays");
            assert_given_back(&table, 1);
            (met, was_late)
        })
        .assert_reached([
            (Sent::Taken, false),
            (Sent::Taken, true),
            (Sent::Refused, true),
        ]);
}
