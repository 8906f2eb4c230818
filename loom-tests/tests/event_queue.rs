//! The event queue, with blocks of one or two slots, so that a handful of pushes crosses their
//! boundaries.
//!
//! Payloads that are loom `Arc`s make loom itself report an event that is leaked, or dropped twice.
//!
//! Blocks come from an allocator of our own, which returns the block that was freed last: so an
//! address that a stalled producer remembers is soon that of another block (ABA), and in every
//! execution alike. glibc's choice depends on the rest of the heap; as an address decides whether a
//! compare-exchange succeeds, loom could not replay an execution. The allocator also counts, so
//! that a block which leaks fails its model.
#![cfg(loom)]

#[path = "event_queue/block_pool.rs"]
mod block_pool;

use block_pool::check;
use filch_event_queue::{Closed, EventQueue, channel};
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, Outcomes};

/// The queue, with a crossing before each call.
struct Queue<T, const CAP: usize> {
    queue: EventQueue<T, CAP>,
    crossing: Crossing,
}

impl<T, const CAP: usize> Queue<T, CAP> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: EventQueue::new(),
            crossing: Crossing::new(),
        })
    }

    fn cross(&self) -> &EventQueue<T, CAP> {
        self.crossing.pass();
        &self.queue
    }

    fn push(&self, event: T) -> Result<(), Closed<T>> {
        self.cross().push(event)
    }

    /// What one drain delivers. The models call it, and what follows, from one thread per queue.
    fn drain(&self) -> Vec<T> {
        let mut events = Vec::new();
        // SAFETY: each model has one consumer.
        let moved = unsafe { self.cross().drain(|event| events.push(event)) };
        assert_eq!(moved, events.len());
        events
    }

    fn pop(&self) -> Option<T> {
        // SAFETY: as in `drain`.
        unsafe { self.cross().pop() }
    }

    fn shrink(&self) -> bool {
        // SAFETY: as in `drain`.
        unsafe { self.cross().shrink() }
    }

    fn close(&self) {
        self.cross().close();
    }

    fn is_empty(&self) -> bool {
        self.cross().is_empty()
    }
}

/// Two threads find the queue without a block, and both bring one. One block is installed, the
/// loser's claim goes to its second slot (or, with one slot per block, the loser's block follows),
/// and the spare is freed. A failure would show as a lost event, or a leaked one.
fn install_race<const CAP: usize>(least: u64) {
    let outcomes = Outcomes::new();
    check(
        "two first pushes both arrive, in either order",
        Bound::exhaustive(least),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, CAP>::new();
                let other = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                queue.push(Arc::new(2)).unwrap();
                other.join().unwrap();
                outcomes.observe(queue.drain().iter().map(|event| **event).collect());
                assert!(queue.is_empty());
            }
        },
    );
    outcomes.assert_exactly([vec![1, 2], vec![2, 1]]);
}

#[test]
fn two_first_pushes_share_a_block() {
    install_race::<2>(20);
}

#[test]
fn two_first_pushes_install_a_block_each() {
    install_race::<1>(20);
}

/// Two producers push two events each, over a block boundary, while the consumer drains twice; a
/// last drain collects the rest. Each producer's events arrive in order, each once. A consumer that
/// walks to a block that is not linked yet, or frees one too early, crashes or loses events.
#[test]
fn two_producers_cross_a_block_boundary() {
    let outcomes = Outcomes::new();
    check(
        "every event arrives once, each producer's in order, while blocks are installed, linked and freed",
        Bound::preemptions(2, 6_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 2>::new();
                let producers = [10, 20].map(|first| {
                    let queue = queue.clone();
                    thread::spawn(move || {
                        queue.push(first).unwrap();
                        queue.push(first + 1).unwrap();
                    })
                });
                let mut events = queue.drain();
                events.extend(queue.drain());
                for producer in producers {
                    producer.join().unwrap();
                }
                events.extend(queue.drain());
                assert!(queue.is_empty());
                outcomes.observe(events);
            }
        },
    );
    outcomes.assert_exactly([
        vec![10, 11, 20, 21],
        vec![10, 20, 11, 21],
        vec![10, 20, 21, 11],
        vec![20, 10, 11, 21],
        vec![20, 10, 21, 11],
        vec![20, 21, 10, 11],
    ]);
}

/// One producer fills block after block; the consumer drains along, so that it empties the tail's
/// block now and then and starts it over while the next push looks at it. Order is kept, nothing is
/// lost, and loom sees no producer write to a slot that the consumer still reads.
#[test]
fn a_block_is_rewound_under_a_producer() {
    let outcomes = Outcomes::new();
    check(
        "an emptied block is used again without a race",
        Bound::exhaustive(13_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 2>::new();
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        for event in 0..3 {
                            queue.push(event).unwrap();
                        }
                    }
                });
                let mut events = queue.drain();
                let early = events.len();
                events.extend(queue.drain());
                producer.join().unwrap();
                events.extend(queue.drain());
                assert_eq!(events, [0, 1, 2]);
                outcomes.observe(early);
            }
        },
    );
    outcomes.assert_exactly(0..=3);
}

/// As above by `pop`, with one slot per block: each pop empties the tail's block, and its rewind
/// races the next push, which may have brought a successor instead.
#[test]
fn a_rewind_races_a_successor() {
    check(
        "either the block is rewound or its successor is found",
        Bound::preemptions(4, 4_500),
        || {
            let queue = Queue::<Arc<u32>, 1>::new();
            let producer = thread::spawn({
                let queue = queue.clone();
                move || {
                    for event in 0..3 {
                        queue.push(Arc::new(event)).unwrap();
                    }
                }
            });
            let mut events = Vec::new();
            for _ in 0..3 {
                events.extend(queue.pop().map(|event| *event));
            }
            producer.join().unwrap();
            events.extend(queue.drain().iter().map(|event| **event));
            assert_eq!(events, [0, 1, 2]);
        },
    );
}

/// A producer reads the tail and sleeps. Meanwhile the main thread pushes to the same slot, drains
/// it and rewinds: the tail is the same word again, and the producer's CAS succeeds (ABA). Its slot
/// is free; but only the CAS itself, and not the load before, tells it that the last event was
/// read. Else loom sees the write race with that read.
#[test]
fn a_push_sleeps_through_a_rewind() {
    check(
        "a claim acquires the rewind that it slept through",
        Bound::exhaustive(50),
        || {
            let queue = Queue::<u32, 1>::new();
            queue.push(1).unwrap();
            assert_eq!(queue.drain(), [1]);
            let sleeper = thread::spawn({
                let queue = queue.clone();
                move || queue.push(2).unwrap()
            });
            queue.push(3).unwrap();
            let early = queue.drain();
            sleeper.join().unwrap();
            let events = [early, queue.drain()].concat();
            assert!(matches!(events[..], [2, 3] | [3, 2]), "{events:?}");
        },
    );
}

/// A has claimed the first slot (the queue is not empty any more, and only A pushes), but perhaps
/// not filled it. The main thread pushes behind it and drains: it gets its own event in any case,
/// and A's now or later.
#[test]
fn a_stalled_push_is_passed_over() {
    let outcomes = Outcomes::new();
    check(
        "a claimed, unfilled slot holds nothing else up, and is delivered once it is filled",
        Bound::exhaustive(600),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 2>::new();
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(1).unwrap()
                });
                let claimed = !queue.is_empty();
                queue.push(2).unwrap();
                let early = queue.drain();
                assert!(early.contains(&2));
                assert!(early.contains(&1) || !claimed || !queue.is_empty());
                stalled.join().unwrap();
                let late = queue.drain();
                if claimed {
                    outcomes.observe((early, late));
                }
            }
        },
    );
    outcomes.assert_exactly([(vec![1, 2], vec![]), (vec![2], vec![1])]);
}

/// The same with one slot per block, and several events behind the stalled one: emptied blocks
/// between it and the tail are taken out of the list and freed, and the list still leads on.
#[test]
fn blocks_behind_a_stalled_push_are_freed() {
    let outcomes = Outcomes::new();
    check(
        "blocks that are emptied behind an unfilled slot leave the list intact",
        Bound::preemptions(3, 2_400),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, 1>::new();
                let stalled = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).unwrap()
                });
                let claimed = !queue.is_empty();
                let mut early = Vec::new();
                for event in 2..4 {
                    queue.push(Arc::new(event)).unwrap();
                    queue.push(Arc::new(event * 10)).unwrap();
                    early.extend(queue.drain().iter().map(|event| **event));
                }
                stalled.join().unwrap();
                let late: Vec<_> = queue.drain().iter().map(|event| **event).collect();
                if claimed {
                    outcomes.observe((early, late));
                }
            }
        },
    );
    outcomes.assert_exactly([
        (vec![1, 2, 20, 3, 30], vec![]),
        (vec![2, 20, 1, 3, 30], vec![]),
        (vec![2, 20, 3, 30], vec![1]),
    ]);
}

/// A pushes `x`, then tells B, and B pushes `y`. The consumer drains (or pops) meanwhile. It may
/// get `x` alone, or both, but never `y` before `x`. Two things could break it: a consumer that
/// looks at slots claimed after it began, and a claim by B that does not carry what B knows about
/// A.
fn told_pushes_stay_behind(consume: fn(&Queue<char, 2>) -> Vec<char>, least: u64) {
    let outcomes = Outcomes::new();
    check(
        "an event is never delivered before one that its producer knew to be pushed",
        Bound::preemptions(3, least),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<char, 2>::new();
                let told = Arc::new(AtomicBool::new(false));
                let a = thread::spawn({
                    let (queue, told) = (queue.clone(), told.clone());
                    move || {
                        queue.push('x').unwrap();
                        told.store(true, Ordering::Release);
                    }
                });
                let b = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        let told = told.load(Ordering::Acquire);
                        if told {
                            queue.push('y').unwrap();
                        }
                        told
                    }
                });
                let early = consume(&queue);
                a.join().unwrap();
                let told = b.join().unwrap();
                let late = queue.drain();
                if told {
                    outcomes.observe((early, late));
                } else {
                    assert_eq!([early, late].concat(), ['x']);
                }
            }
        },
    );
    outcomes.assert_exactly([
        (vec![], vec!['x', 'y']),
        (vec!['x'], vec!['y']),
        (vec!['x', 'y'], vec![]),
    ]);
}

#[test]
fn a_told_push_is_drained_behind() {
    told_pushes_stay_behind(Queue::drain, 800);
}

#[test]
fn a_told_push_is_popped_behind() {
    told_pushes_stay_behind(
        |queue| [queue.pop(), queue.pop()].into_iter().flatten().collect(),
        500,
    );
}

/// The wake protocol around the queue: the producer pushes, and then raises a flag. A consumer that
/// sees the flag finds the event, however the pushes of a second producer lie around it.
#[test]
fn a_completed_push_is_found() {
    let outcomes = Outcomes::new();
    check(
        "a pop that begins after a push returned is not told `None`",
        Bound::preemptions(3, 11_000),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 1>::new();
                let woken = Arc::new(AtomicBool::new(false));
                let waker = thread::spawn({
                    let (queue, woken) = (queue.clone(), woken.clone());
                    move || {
                        queue.push(1).unwrap();
                        woken.store(true, Ordering::Release);
                    }
                });
                let noise = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(2).unwrap()
                });
                // A pass begins, and may end anywhere.
                let first = queue.pop();
                let woken = woken.load(Ordering::Acquire);
                let second = queue.pop();
                if woken && first != Some(1) {
                    assert!(second.is_some(), "the event of a completed push was missed");
                }
                outcomes.observe((first, second));
                waker.join().unwrap();
                noise.join().unwrap();
                let mut all: Vec<_> = [first, second].into_iter().flatten().collect();
                all.extend(queue.drain());
                all.sort_unstable();
                assert_eq!(all, [1, 2]);
            }
        },
    );
    outcomes.assert_exactly([
        (None, None),
        (None, Some(1)),
        (None, Some(2)),
        (Some(1), None),
        (Some(1), Some(2)),
        (Some(2), None),
        (Some(2), Some(1)),
    ]);
}

/// Two pushes race a close and the drain after it. Each event is handed back, or delivered, by that
/// drain or by a later one when its push was still under way.
#[test]
fn close_races_two_pushes() {
    let outcomes = Outcomes::new();
    check(
        "each event is delivered or handed back, exactly once",
        Bound::preemptions(3, 3_500),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<usize>, 1>::new();
                let producers = [0, 1].map(|name| {
                    let queue = queue.clone();
                    thread::spawn(move || queue.push(Arc::new(name)))
                });
                queue.close();
                let early = queue.drain();
                let handed_back = producers.map(|producer| match producer.join().unwrap() {
                    Ok(()) => None,
                    Err(Closed(event)) => Some(event),
                });
                let late = queue.drain();
                let outcome = [0, 1].map(|name| {
                    let count = |events: &[Arc<usize>]| {
                        events.iter().filter(|event| ***event == name).count()
                    };
                    let refused = handed_back[name].as_ref().map_or(0, |event| {
                        assert_eq!(**event, name);
                        1
                    });
                    (count(&early), count(&late), refused)
                });
                outcomes.observe(outcome);
            }
        },
    );
    let each = [(1, 0, 0), (0, 1, 0), (0, 0, 1)];
    outcomes.assert_exactly(each.iter().flat_map(|a| each.iter().map(|b| [*a, *b])));
}

/// The closing thread leaves a note before it closes. A push that is refused may read it: loom
/// would report the read as a race.
#[test]
fn a_refused_push_comes_after_the_close() {
    let outcomes = Outcomes::new();
    check(
        "close happens before the return of a refused push",
        Bound::exhaustive(20),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 1>::new();
                let note = Arc::new(UnsafeCell::new(0));
                let producer = thread::spawn({
                    let (queue, note) = (queue.clone(), note.clone());
                    move || {
                        let refused = queue.push(1).is_err();
                        if refused {
                            // SAFETY: the claim of this model: written before the close, which came
                            // before.
                            assert_eq!(note.with(|note| unsafe { *note }), 7);
                        }
                        refused
                    }
                });
                // SAFETY: the other thread reads only after the close below.
                note.with_mut(|note| unsafe { *note = 7 });
                queue.close();
                outcomes.observe(producer.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// The receiver is dropped, with an event in the queue, while a sender pushes another. Both are
/// dropped once: by the receiver, by the last end, or by the sender that got its own back. loom
/// reports what leaks.
#[test]
fn the_receiver_leaves_a_late_producer() {
    let outcomes = Outcomes::new();
    check(
        "an event whose push outlives the receiver is dropped with the last end",
        Bound::exhaustive(40),
        {
            let outcomes = outcomes.clone();
            move || {
                let (sender, receiver) = channel();
                sender.push(Arc::new(1)).unwrap();
                let late = thread::spawn(move || sender.push(Arc::new(2)).is_ok());
                drop(receiver);
                outcomes.observe(late.join().unwrap());
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// The queue is dropped with events in several blocks, some of them taken.
#[test]
fn a_queue_is_dropped_with_events_left() {
    check(
        "what is left is dropped once",
        Bound::exhaustive(70),
        || {
            let queue = Queue::<Arc<u32>, 2>::new();
            let producer = thread::spawn({
                let queue = queue.clone();
                move || {
                    for event in 0..3 {
                        queue.push(Arc::new(event)).unwrap();
                    }
                }
            });
            if let Some(event) = queue.pop() {
                assert_eq!(*event, 0);
            }
            producer.join().unwrap();
        },
    );
}

/// The owner gives the block of an empty queue back while a push may claim a slot in it.
#[test]
fn shrinking_races_a_push() {
    let outcomes = Outcomes::new();
    check(
        "the block is freed only if no slot was claimed since",
        Bound::exhaustive(300),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<u32, 3>::new();
                queue.push(1).unwrap();
                assert_eq!(queue.drain(), [1]);
                let producer = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(2).unwrap()
                });
                let freed = queue.shrink();
                let early = queue.drain();
                producer.join().unwrap();
                assert_eq!([early, queue.drain()].concat(), [2]);
                outcomes.observe(freed);
            }
        },
    );
    outcomes.assert_exactly([false, true]);
}

/// A life ends with a close that a push may lose to; the next life begins on another thread, with
/// new producers. No event of the first life appears in the second.
#[test]
fn reopened_for_a_second_life() {
    let outcomes = Outcomes::new();
    check(
        "a second life begins empty and open",
        Bound::preemptions(4, 1_200),
        {
            let outcomes = outcomes.clone();
            move || {
                let queue = Queue::<Arc<u32>, 2>::new();
                let first = thread::spawn({
                    let queue = queue.clone();
                    move || queue.push(Arc::new(1)).is_ok()
                });
                queue.close();
                let early = queue.drain().len();
                let accepted = first.join().unwrap();
                // SAFETY: this thread alone consumes, and the only producer has ended.
                unsafe { queue.queue.reopen() };
                assert!(queue.is_empty());
                let second = thread::spawn({
                    let queue = queue.clone();
                    move || {
                        queue.push(Arc::new(2)).unwrap();
                        queue.push(Arc::new(3)).unwrap();
                    }
                });
                let mut events = queue.drain();
                second.join().unwrap();
                events.extend(queue.drain());
                let events: Vec<_> = events.iter().map(|event| **event).collect();
                assert_eq!(events, [2, 3]);
                outcomes.observe((accepted, early));
            }
        },
    );
    outcomes.assert_exactly([(false, 0), (true, 0), (true, 1)]);
}
