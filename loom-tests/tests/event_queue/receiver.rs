//! The receiver that waits: no event, and no last sender, leaves it asleep.

use std::iter;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use filch_event_queue::{Receiver, RecvError, Sender, channel};
use filch_models::{Bound, Crossing, beside_both, tell};
use filch_sync::thread::{self, JoinHandle};

use super::block_pool::NoneLeft;

/// An event with a number, so large that a block has few slots, and aligned so that the allocator
/// of the models knows it.
#[repr(align(32))]
struct Event {
    number: u32,
    _size: [u64; 64],
}

impl Event {
    const fn new(number: u32) -> Self {
        Self {
            number,
            _size: [0; 64],
        }
    }
}

/// A task, reduced to how often it was woken. std's counter: it must add no edges.
#[derive(Default)]
struct Task(AtomicUsize);

impl Task {
    fn new() -> (StdArc<Self>, Waker) {
        let task = StdArc::new(Self::default());
        (task.clone(), Waker::from(task))
    }

    fn was_woken(&self) -> bool {
        self.0.swap(0, Ordering::Relaxed) > 0
    }
}

impl Wake for Task {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thread with a sender of its own, which pushes an event of that number.
fn pushing(sender: &Sender<Event>, number: u32) -> JoinHandle<()> {
    let sender = sender.clone();
    thread::spawn(move || sender.push(Event::new(number)).unwrap())
}

fn poll(receiver: &mut Receiver<Event>, waker: &Waker) -> Poll<Option<u32>> {
    let polled = receiver.poll_recv(&mut Context::from_waker(waker));
    polled.map(|event| event.map(|event| event.number))
}

/// A task looks while an event is pushed. If it found none, the push has woken it, or the look has,
/// because the push was under way.
#[test]
fn a_push_wakes_a_task_that_has_missed_it() {
    Bound::exhaustive(600)
        .outcomes(
            "a task that found no event is woken by the push that brings one",
            || {
                let _blocks = NoneLeft;
                let (sender, mut receiver) = channel();
                let producer = pushing(&sender, 1);
                let (task, waker) = Task::new();
                let first = poll(&mut receiver, &waker);
                producer.join().unwrap();
                let woken = task.was_woken();
                if first.is_pending() {
                    assert!(woken, "the task sleeps beside an event");
                    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(1)));
                }
                let outcome = (first.is_pending(), woken);
                drop(sender);

                outcome
            },
        )
        .assert_exactly([(false, false), (false, true), (true, true)]);
}

/// Two producers, and a task that looks until it has both events. It looks again only when it was
/// woken, or when nobody is left that could wake it.
#[test]
fn each_of_two_pushes_is_found_by_a_task_that_looks_when_it_is_woken() {
    Bound::preemptions(2, 200_000).check(
        "a task that looks only when it is woken finds every event",
        || {
            let _blocks = NoneLeft;
            let (sender, mut receiver) = channel();
            // A block is there: `a_push_wakes_a_task_that_has_missed_it` has pushes that bring one.
            sender.push(Event::new(0)).unwrap();
            assert!(receiver.pop().is_some());
            let producers = [1, 2].map(|number| pushing(&sender, number));
            drop(sender);
            let (task, waker) = Task::new();
            let mut events = Vec::new();
            let mut look = |events: &mut Vec<u32>| loop {
                match poll(&mut receiver, &waker) {
                    Poll::Ready(Some(number)) => events.push(number),
                    Poll::Ready(None) => return,
                    // A push is under way, perhaps: let it run.
                    Poll::Pending if task.was_woken() => thread::yield_now(),
                    Poll::Pending => return,
                }
            };
            look(&mut events);
            for producer in producers {
                producer.join().unwrap();
            }
            if events.len() < 2 {
                assert!(
                    task.0.load(Ordering::Relaxed) > 0,
                    "the task sleeps beside an event"
                );
                look(&mut events);
            }
            events.sort_unstable();
            assert_eq!(events, [1, 2]);
        },
    );
}

/// A push wakes a task for an event that was found before, and takes the waker of its next wait. If
/// the task took that for its own still, as a load may show it, the next push would wake nobody.
#[test]
fn a_push_that_is_late_hides_no_other() {
    Bound::preemptions(2, 1_000).check(
        "a task that was woken for nothing leaves its waker anew",
        || {
            let _blocks = NoneLeft;
            let (sender, mut receiver) = channel();
            let other = sender.clone();
            let producer = thread::spawn(move || {
                (1..=2).for_each(|number| other.push(Event::new(number)).unwrap());
            });
            let (task, waker) = Task::new();
            let mut events = Vec::new();
            let mut look = || loop {
                match poll(&mut receiver, &waker) {
                    Poll::Ready(event) => events.extend(event),
                    Poll::Pending if task.was_woken() => {}
                    Poll::Pending => return events.len(),
                }
            };
            let early = look();
            producer.join().unwrap();
            let woken = task.was_woken();
            assert!(early == 2 || woken, "the task sleeps beside an event");
            assert_eq!(look(), 2);
            assert_eq!(events, [1, 2]);
            drop(sender);
        },
    );
}

/// The task looks twice, with two wakers, as it does when it has moved from one executor to
/// another. If it found nothing the second time, the second waker is used.
#[test]
fn the_waker_that_was_left_last_is_used() {
    Bound::exhaustive(120_000)
        .outcomes(
            "a push that follows a change of the waker uses the new one",
            || {
                let _blocks = NoneLeft;
                let (sender, mut receiver) = channel();
                let producer = pushing(&sender, 1);
                let (early, first) = Task::new();
                let (late, second) = Task::new();
                let mut found = poll(&mut receiver, &first);
                if found.is_pending() {
                    found = poll(&mut receiver, &second);
                }
                producer.join().unwrap();
                let woken = (early.was_woken(), late.was_woken());
                if found.is_pending() {
                    assert!(woken.1, "the waker that nobody waits with was used");
                }
                drop(sender);
                (found.is_pending(), woken.0)
            },
        )
        .assert_exactly([(false, false), (false, true), (true, false)]);
}

/// The last sender goes while a task looks.
#[test]
fn the_last_sender_wakes_a_task_that_has_missed_it() {
    Bound::exhaustive(50)
        .outcomes("a task learns that no sender is left", || {
            let _blocks = NoneLeft;
            let (sender, mut receiver) = channel();
            let last = thread::spawn(move || drop(sender));
            let (task, waker) = Task::new();
            let first = poll(&mut receiver, &waker);
            last.join().unwrap();
            if first.is_pending() {
                assert!(task.was_woken(), "the task waits for a sender that is gone");
                assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));
            }
            first.is_pending()
        })
        .assert_exactly([false, true]);
}

/// A sender pushes and goes: the event is not taken for missing.
#[test]
fn no_event_is_left_when_no_sender_is() {
    Bound::exhaustive(14).check(
        "the queue is over only when its last event is taken",
        || {
            let _blocks = NoneLeft;
            let (sender, mut receiver) = channel();
            let last = thread::spawn(move || sender.push(Event::new(1)).unwrap());
            let over = matches!(receiver.try_recv(), Err(RecvError::Disconnected));
            assert!(!over, "an event is left");
            last.join().unwrap();
        },
    );
}

/// A thread that receives until no sender is left, asleep in between. loom reports a thread that
/// nobody wakes as a deadlock.
#[test]
fn a_thread_sleeps_until_an_event_comes() {
    Bound::preemptions(4, 1_000).check(
        "a thread that waits gets every event, in order, and then the end",
        || {
            let _blocks = NoneLeft;
            let (sender, mut receiver) = channel();
            let producer = thread::spawn(move || {
                sender.push(Event::new(1)).unwrap();
                sender.push(Event::new(2)).unwrap();
            });
            let mut events = Vec::new();
            while let Some(event) = receiver.recv() {
                events.push(event.number);
            }
            assert_eq!(events, [1, 2]);
            producer.join().unwrap();
        },
    );
}

/// The receiver goes while a push may be waking its task.
#[test]
fn a_receiver_goes_while_it_is_woken() {
    Bound::exhaustive(40).check("the waker is used or dropped, and once", || {
        let _blocks = NoneLeft;
        let (sender, mut receiver) = channel();
        let (task, waker) = Task::new();
        assert!(poll(&mut receiver, &waker).is_pending());
        drop(waker);
        let pushing = sender.clone();
        let producer = thread::spawn(move || pushing.push(Event::new(1)).is_ok());
        drop(receiver);
        let accepted = producer.join().unwrap();
        assert_eq!(StdArc::strong_count(&task), 1);
        assert!(accepted || !task.was_woken(), "woken for nothing");
        drop(sender);
    });
}

/// A push stalls in a block's first slot. The receiver pops all that is behind it, and comes to the
/// next block: each pop goes on with the scan of the last one. If that forgot that it has passed a
/// slot in flight, it would free the block under the stalled push; if a pop began anew, the stalled
/// event could come between the others.
#[test]
fn a_scan_that_is_kept_passes_a_slot_in_flight() {
    Bound::preemptions(3, 11_000)
        .some_outcomes(
            "a scan goes on from pop to pop, and a block with a slot in flight stays",
            || {
                let _blocks = NoneLeft;
                let (sender, mut receiver) = channel();
                let crossing = Crossing::new();
                let stalled = beside_both(&sender, &crossing, move |sender, crossing| {
                    crossing.pass();
                    sender.push(Event::new(1)).unwrap();
                });
                crossing.pass();
                let claimed = sender.depth().events > 0;
                // The first block has seven slots.
                (2..=9).for_each(|number| sender.push(Event::new(number)).unwrap());
                let mut events: Vec<_> = iter::from_fn(|| receiver.pop()).take(8).collect();
                stalled.join().unwrap();
                events.extend(iter::from_fn(|| receiver.pop()));
                let mut numbers: Vec<_> = events.iter().map(|event| event.number).collect();
                let place = numbers.iter().position(|number| *number == 1).unwrap();
                numbers.remove(place);
                assert!(numbers.into_iter().eq(2..=9));
                claimed.then_some(place)
            },
        )
        .assert_exactly([0, 8]);
}

/// A pushes 1, then tells B, and B pushes 2, while the receiver pops: as
/// `order::a_told_push_is_popped_behind`, by the way that does not ask the tail first.
#[test]
fn a_told_push_is_received_behind() {
    Bound::preemptions(3, 23_000)
        .some_outcomes(
            "a receiver never gets an event before one that its producer knew to be pushed",
            || {
                let _blocks = NoneLeft;
                let (sender, mut receiver) = channel();
                let crossing = Crossing::new();
                let (a, b) = tell(
                    &(sender, crossing.clone()),
                    |(sender, crossing)| {
                        crossing.pass();
                        sender.push(Event::new(1)).unwrap();
                    },
                    |(sender, crossing)| {
                        crossing.pass();
                        sender.push(Event::new(2)).unwrap();
                    },
                );
                let mut pop = |early: &mut Vec<u32>| {
                    crossing.pass();
                    early.extend(receiver.pop().map(|event| event.number));
                };
                let mut early = Vec::new();
                pop(&mut early);
                pop(&mut early);
                a.join().unwrap();
                let told = b.join().unwrap();
                let late: Vec<_> = iter::from_fn(|| receiver.pop())
                    .map(|event| event.number)
                    .collect();
                if told {
                    Some((early, late))
                } else {
                    assert_eq!([early, late].concat(), [1]);
                    None
                }
            },
        )
        .assert_exactly([
            (vec![], vec![1, 2]),
            (vec![1], vec![2]),
            (vec![1, 2], vec![]),
        ]);
}
