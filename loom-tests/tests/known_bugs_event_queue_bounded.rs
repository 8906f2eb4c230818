//! Ways to get a bounded event queue wrong, each in a small copy of it, and each caught.
//!
//! The copy keeps what the bugs are about: a tail that is claimed by CAS while there is room before
//! the head, slots with a mark that alternates from lap to lap, a consumer that releases slots by
//! moving the head. It has two slots, no lap's end but theirs, and no holes that are passed over,
//! except where the bug is about them.
#![cfg(loom)]

use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, check, refute};

const CAPACITY: u32 = 2;

/// What a copy does differently from the real queue; [`Self::RIGHT`] is what it does.
#[derive(Clone, Copy)]
struct Variant {
    fill: Ordering,
    /// The consumer moves the head before it reads the slot.
    release_first: bool,
    release: Ordering,
    /// Both sides look again after a fence, before they say "full" and "empty".
    fences: bool,
    /// A tail that the head has overtaken counts as far ahead of it.
    unsigned: bool,
    /// The head is looked at once, before the tail, and not again when the claim fails.
    head_first: bool,
    /// The head moves past a slot that is claimed and not filled.
    release_holes: bool,
}

impl Variant {
    const RIGHT: Self = Self {
        fill: Ordering::Release,
        release_first: false,
        release: Ordering::Release,
        fences: true,
        unsigned: false,
        head_first: false,
        release_holes: false,
    };
}

struct Slot {
    mark: AtomicBool,
    value: UnsafeCell<u32>,
}

struct Queue {
    variant: Variant,
    tail: AtomicU32,
    head: AtomicU32,
    slots: [Slot; CAPACITY as usize],
    /// Where each call begins.
    crossing: Crossing,
}

fn mark(position: u32) -> bool {
    (position / CAPACITY).is_multiple_of(2)
}

impl Queue {
    fn new(variant: Variant) -> Arc<Self> {
        Arc::new(Self {
            variant,
            tail: AtomicU32::new(0),
            head: AtomicU32::new(0),
            crossing: Crossing::new(),
            slots: [(); CAPACITY as usize].map(|()| Slot {
                mark: AtomicBool::new(!mark(0)),
                value: UnsafeCell::new(0),
            }),
        })
    }

    fn slot(&self, position: u32) -> &Slot {
        &self.slots[(position % CAPACITY) as usize]
    }

    fn is_full(&self, head: u32, tail: u32) -> bool {
        let held = tail.wrapping_sub(head);
        if self.variant.unsigned {
            held >= CAPACITY
        } else {
            held.cast_signed() >= CAPACITY.cast_signed()
        }
    }

    /// Whether there was room.
    fn push(&self, event: u32) -> bool {
        self.crossing.pass();
        let mut head = self.head.load(Ordering::Acquire);
        let mut tail = self.tail.load(Ordering::Acquire);
        loop {
            if !self.variant.head_first {
                head = self.head.load(Ordering::Acquire);
            }
            if self.variant.fences && self.is_full(head, tail) {
                // ORDERING: see `has_room` of the real queue.
                fence(Ordering::SeqCst);
                head = self.head.load(Ordering::Acquire);
            }
            if self.is_full(head, tail) {
                return false;
            }
            match self
                .tail
                .compare_exchange(tail, tail + 1, Ordering::Release, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(now) => tail = now,
            }
        }
        let slot = self.slot(tail);
        // SAFETY: claimed by this thread alone; the consumer waits for the mark.
        slot.value.with_mut(|value| unsafe { *value = event });
        slot.mark.store(mark(tail), self.variant.fill);
        true
    }

    fn pop(&self) -> Option<u32> {
        self.crossing.pass();
        self.look().or_else(|| {
            if self.variant.fences {
                // ORDERING: see `pass_after_fence` of the real queue.
                fence(Ordering::SeqCst);
            }
            self.look()
        })
    }

    fn look(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Acquire);
        let holes = if self.variant.release_holes {
            tail
        } else {
            tail.min(head + 1)
        };
        for place in head..holes {
            let slot = self.slot(place);
            if slot.mark.load(Ordering::Acquire) == mark(place) {
                if self.variant.release_first {
                    self.head.store(place + 1, self.variant.release);
                }
                // SAFETY: the mark says that the producer is done.
                let event = slot.value.with(|value| unsafe { *value });
                if !self.variant.release_first {
                    self.head.store(place + 1, self.variant.release);
                }
                return Some(event);
            }
        }
        None
    }
}

/// The queue is full. One is popped while a producer pushes another; then all come out in order.
fn room_is_made(variant: Variant) {
    let queue = Queue::new(variant);
    assert!(queue.push(1) && queue.push(2));
    let producer = thread::spawn({
        let queue = queue.clone();
        move || queue.push(3)
    });
    assert_eq!(queue.pop(), Some(1));
    let accepted = producer.join().unwrap();
    assert_eq!(queue.pop(), Some(2));
    assert_eq!(queue.pop(), accepted.then_some(3));
}

/// The control: without a bug, the copy does what the others fail at.
#[test]
fn the_copy_without_a_bug_holds() {
    check(
        "a released slot is used again, full and empty do not contradict each other, a late push is not refused",
        Bound::preemptions(3, 100),
        || {
            room_is_made(Variant::RIGHT);
            full_or_empty(Variant::RIGHT);
        },
    );
}

#[test]
fn a_slot_released_before_it_is_read_is_overwritten() {
    refute(
        "the head can move before the slot is read",
        "Causality violation",
        Bound::preemptions(3, 2),
        || {
            room_is_made(Variant {
                release_first: true,
                ..Variant::RIGHT
            });
        },
    );
}

#[test]
fn a_relaxed_release_orders_nothing() {
    refute(
        "the head can be stored relaxed",
        "Causality violation",
        Bound::preemptions(3, 2),
        || {
            room_is_made(Variant {
                release: Ordering::Relaxed,
                ..Variant::RIGHT
            });
        },
    );
}

/// A pop races the first push.
fn one_is_pushed(variant: Variant) {
    let queue = Queue::new(variant);
    let producer = thread::spawn({
        let queue = queue.clone();
        move || queue.push(1)
    });
    let event = queue.pop();
    assert!(producer.join().unwrap());
    assert!(matches!(event, None | Some(1)));
}

#[test]
fn a_relaxed_mark_publishes_nothing() {
    check(
        "the mark of a slot publishes its event",
        Bound::preemptions(3, 30),
        || one_is_pushed(Variant::RIGHT),
    );
    refute(
        "the mark of a slot can be stored relaxed",
        "Causality violation",
        Bound::preemptions(3, 2),
        || {
            one_is_pushed(Variant {
                fill: Ordering::Relaxed,
                ..Variant::RIGHT
            });
        },
    );
}

/// One event in the queue. The consumer pops twice, a producer pushes twice.
fn full_or_empty(variant: Variant) {
    let queue = Queue::new(variant);
    assert!(queue.push(1));
    let producer = thread::spawn({
        let queue = queue.clone();
        move || (queue.push(2), queue.push(3))
    });
    assert_eq!(queue.pop(), Some(1));
    let second = queue.pop();
    let (first_push, second_push) = producer.join().unwrap();
    assert!(first_push);
    assert!(
        second.is_some() || second_push,
        "empty for one, full for the other"
    );
}

/// The consumer's release sits in its store buffer while it finds the tail where it was: "empty".
/// The producer's claim is there, and it does not see the release: "full". Each is right for
/// itself, and no order of the four calls explains both.
#[test]
fn without_fences_full_and_empty_contradict_each_other() {
    refute(
        "full and empty can be decided without a fence",
        "empty for one, full for the other",
        Bound::preemptions(3, 2),
        || {
            full_or_empty(Variant {
                fences: false,
                ..Variant::RIGHT
            });
        },
    );
}

/// A producer reads the tail and sleeps, while the queue is filled and emptied; the head that it
/// then reads lies beyond its tail. There has been room all the time.
fn overtaken(variant: Variant) {
    let queue = Queue::new(variant);
    let sleeper = thread::spawn({
        let queue = queue.clone();
        move || queue.push(9)
    });
    assert!(queue.push(1));
    queue.pop();
    assert!(sleeper.join().unwrap(), "refused by a queue with room");
}

#[test]
fn a_tail_that_was_overtaken_is_not_a_full_queue() {
    check(
        "a tail that the head has overtaken does not make the queue full",
        Bound::preemptions(3, 10),
        || overtaken(Variant::RIGHT),
    );
    refute(
        "distances of positions can be compared unsigned",
        "refused by a queue with room",
        Bound::preemptions(3, 2),
        || {
            overtaken(Variant {
                unsigned: true,
                ..Variant::RIGHT
            });
        },
    );
}

/// The head is read at first, the tail then, and the claim fails because another producer was
/// faster, after a pop had made room for both: the old head and the new tail are a full queue that
/// never was.
#[test]
fn an_old_head_and_a_new_tail_are_a_full_queue_that_never_was() {
    let story = |variant| {
        move || {
            let queue = Queue::new(variant);
            assert!(queue.push(1));
            let slow = thread::spawn({
                let queue = queue.clone();
                move || queue.push(9)
            });
            assert_eq!(queue.pop(), Some(1));
            assert!(queue.push(2));
            assert!(slow.join().unwrap(), "refused by a queue with room");
        }
    };
    // The real order needs no second look: with the fence it gets one anyway, so that it is taken
    // out here, for both.
    let single_look = Variant {
        fences: false,
        ..Variant::RIGHT
    };
    check(
        "a head that is read after the tail tells whether there was room",
        Bound::preemptions(3, 10),
        story(single_look),
    );
    refute(
        "whether there is room can be decided by an old head",
        "refused by a queue with room",
        Bound::preemptions(3, 2),
        story(Variant {
            head_first: true,
            ..single_look
        }),
    );
}

/// A's slot is claimed and not filled; B's behind it is, and its event is delivered. If the head
/// moves behind B's slot, A's place is released: A's event is lost, or meets the next lap's.
fn behind_a_hole(variant: Variant) {
    let queue = Queue::new(variant);
    let stalled = thread::spawn({
        let queue = queue.clone();
        move || assert!(queue.push(1))
    });
    assert!(queue.push(2));
    let mut events = 0;
    events += queue.pop().map_or(0, |_| 1);
    stalled.join().unwrap();
    while queue.pop().is_some() {
        events += 1;
    }
    assert_eq!(events, 2, "an accepted event was lost");
}

#[test]
fn a_hole_is_not_released() {
    check(
        "the head stays before a slot that is not filled yet",
        Bound::preemptions(3, 100),
        || behind_a_hole(Variant::RIGHT),
    );
    refute(
        "the head can move past a slot that is not filled yet",
        "an accepted event was lost",
        Bound::preemptions(3, 2),
        || {
            behind_a_hole(Variant {
                release_holes: true,
                ..Variant::RIGHT
            });
        },
    );
}
