//! The slab and the injector, each without one of their precautions. Each is a small copy of one
//! step, broken on purpose, and caught; a short one has its sound twin beside it.

use std::array;

use filch_models::{Bound, beside, beside_both};
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

const NONE: u32 = u32::MAX;

/// A free list of the indices 0 (on top), 1 and 2, whose top has no tag.
struct UntaggedList {
    top: AtomicU32,
    links: [AtomicU32; 3],
    owned: [UnsafeCell<u32>; 3],
}

// SAFETY: a cell is for the owner of its index, which is the claim that is refuted.
unsafe impl Sync for UntaggedList {}

impl UntaggedList {
    fn new() -> Self {
        Self {
            top: AtomicU32::new(0),
            links: array::from_fn(|index| AtomicU32::new([1, 2, NONE][index])),
            owned: array::from_fn(|_| UnsafeCell::new(0)),
        }
    }

    fn allocate(&self) -> Option<usize> {
        loop {
            let top = self.top.load(Ordering::Acquire);
            let link = self.links.get(top as usize)?;
            let below = link.load(Ordering::Acquire);
            let exchanged =
                self.top
                    .compare_exchange(top, below, Ordering::AcqRel, Ordering::Acquire);
            if exchanged.is_ok() {
                // SAFETY: none: this is the bug.
                self.owned[top as usize].with_mut(|owned| unsafe { *owned += 1 });
                return Some(top as usize);
            }
        }
    }

    fn release(&self, index: usize) {
        loop {
            let top = self.top.load(Ordering::Acquire);
            self.links[index].store(top, Ordering::Release);
            let index = index as u32;
            let exchanged =
                self.top
                    .compare_exchange(top, index, Ordering::AcqRel, Ordering::Acquire);
            if exchanged.is_ok() {
                return;
            }
        }
    }
}

/// Threads: main, one other. The other reads top 0 and its link 1, and stalls; main takes 0 and 1
/// and gives 0 back. The other's exchange finds 0 and puts 1 on top, which main still has; main
/// takes it again.
#[test]
fn a_free_list_without_a_tag_gives_an_index_to_two() {
    Bound::preemptions(3, 1).refute(
        "a top without a tag is enough",
        "an index with two owners",
        || {
            let list = Arc::new(UntaggedList::new());
            let stalled = beside(&list, UntaggedList::allocate);
            let first = list.allocate().unwrap();
            let second = list.allocate();
            list.release(first);
            let other = stalled.join().unwrap();
            let third = list.allocate();
            assert!(
                second.is_none() || second != third,
                "an index with two owners"
            );
            assert!(
                other.is_none() || other != third,
                "an index with two owners"
            );
        },
    );
}

const EMPTY: u32 = 0;
const FULL: u32 = 1;
const ABANDONED: u32 = 2;

/// Threads: a producer and main, on one slot that both have claimed. `put` is the producer's last
/// step and returns whether it takes the item as delivered; main abandons the slot if it is first.
/// One of the two must have the item.
fn deliver(put: fn(&AtomicU32) -> bool) {
    let state = Arc::new(AtomicU32::new(EMPTY));
    let producer = beside(&state, put);
    let arrived =
        state.load(Ordering::Acquire) == FULL || state.swap(ABANDONED, Ordering::AcqRel) == FULL;
    let sent = producer.join().unwrap();
    assert_eq!(sent, arrived, "an item that nobody has");
}

#[test]
fn a_slot_filled_by_a_plain_store_loses_its_item() {
    Bound::exhaustive(2).refute("a store will do", "an item that nobody has", || {
        deliver(|state| {
            state.store(FULL, Ordering::Release);
            true
        });
    });
    Bound::exhaustive(2).check("the swap sees the consumer", || {
        deliver(|state| state.swap(FULL, Ordering::Release) == EMPTY);
    });
}

/// Threads: a consumer that looks at slot 0 and claims it if it is full, and main, which takes the
/// item, and puts the block back into the queue as the next one, where a producer has claimed slot
/// 0 and not filled it yet. `word` encodes a place as `head` does. The consumer must not get an
/// item that is not there.
fn claim_what_was_seen_full(word: fn(sequence: u64, index: u64) -> u64) {
    let head = Arc::new(AtomicU64::new(word(0, 0)));
    let state = Arc::new(AtomicU32::new(FULL));
    let consumer = beside_both(&head, &state, move |head, state| {
        let seen = head.load(Ordering::Acquire);
        let full = seen == word(0, 0) && state.load(Ordering::Acquire) == FULL;
        let next = word(0, 1);
        full && head
            .compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    });
    let own = head
        .compare_exchange(word(0, 0), word(0, 1), Ordering::Release, Ordering::Relaxed)
        .is_ok();
    if own {
        // The last user of the block prepares it, and `head` comes to it again.
        state.store(EMPTY, Ordering::Relaxed);
        head.compare_exchange(word(0, 1), word(1, 0), Ordering::Release, Ordering::Relaxed)
            .expect("only main moves the head to a block");
    }
    let other = consumer.join().unwrap();
    assert!(own != other, "a claim of an item that is not there");
}

#[test]
fn a_look_without_the_sequence_in_head_claims_what_is_gone() {
    Bound::exhaustive(2).refute(
        "the block and the index say enough",
        "a claim of an item that is not there",
        || claim_what_was_seen_full(|_sequence, index| index),
    );
    Bound::exhaustive(2).check("the sequence in head dates the look", || {
        claim_what_was_seen_full(|sequence, index| (sequence << 32) | index);
    });
}

/// Threads: a producer on the slot that both have claimed, and main, which abandons it by
/// `abandon`, which returns whether the item was there. One of the two must have the item.
fn abandon_once(abandon: fn(&AtomicU32) -> bool) {
    let state = Arc::new(AtomicU32::new(EMPTY));
    let producer = beside(&state, |state| state.swap(FULL, Ordering::Release) == EMPTY);
    let arrived = abandon(&state);
    let sent = producer.join().unwrap();
    assert_eq!(sent, arrived, "an item that nobody has");
}

#[test]
fn a_slot_abandoned_by_a_plain_store_loses_its_item() {
    Bound::exhaustive(2).refute("look, then store", "an item that nobody has", || {
        abandon_once(|state| {
            let full = state.load(Ordering::Acquire) == FULL;
            if !full {
                state.store(ABANDONED, Ordering::Release);
            }
            full
        });
    });
    Bound::exhaustive(2).check("the swap sees the producer", || {
        abandon_once(|state| state.swap(ABANDONED, Ordering::Acquire) == FULL);
    });
}

/// Threads: a producer that has no item for the slot that both have claimed, and main, which would
/// not wait: both abandon it. `abandon` is the producer's step, and returns whether the producer
/// has to count the slot as finished. One of the two must do it.
fn finish_once(abandon: fn(&AtomicU32) -> bool) {
    let state = Arc::new(AtomicU32::new(EMPTY));
    let producer = beside(&state, abandon);
    let is_consumers = state.swap(ABANDONED, Ordering::Acquire) == ABANDONED;
    let is_producers = producer.join().unwrap();
    assert!(
        is_consumers != is_producers,
        "a block that never comes back"
    );
}

#[test]
fn a_place_abandoned_by_a_look_and_a_store_is_nobodys_to_finish() {
    Bound::exhaustive(2).refute("look, then store", "a block that never comes back", || {
        finish_once(|state| {
            let was_abandoned = state.load(Ordering::Acquire) == ABANDONED;
            state.store(ABANDONED, Ordering::Relaxed);
            was_abandoned
        });
    });
    Bound::exhaustive(2).check("the second swap sees the first", || {
        finish_once(|state| state.swap(ABANDONED, Ordering::Relaxed) == ABANDONED);
    });
}

/// Threads: a producer that has read a position in block 0, and main. Main gives block 0 its
/// successor, takes it out of the queue and prepares it for another place in it. The producer must
/// not link to it any more.
fn link_to_a_recycled_block(unlinked: fn(sequence: u32) -> u64) {
    let linked = |sequence: u32| (u64::from(sequence) << 32) | 7;
    let next = Arc::new(AtomicU64::new(unlinked(0)));
    let stalled = beside(&next, move |next| {
        next.compare_exchange(unlinked(0), linked(0), Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    });
    let own = next
        .compare_exchange(unlinked(0), linked(0), Ordering::AcqRel, Ordering::Acquire)
        .is_ok();
    // Both ends leave the block, and it is prepared again, as the queue's fifth.
    next.store(unlinked(5), Ordering::Release);
    let other = stalled.join().unwrap();
    assert!(own != other, "a link that is not in the queue");
}

#[test]
fn a_next_without_a_sequence_takes_a_stale_link() {
    Bound::exhaustive(2).refute("none is none", "a link that is not in the queue", || {
        link_to_a_recycled_block(|_sequence| u64::from(NONE));
    });
    Bound::exhaustive(2).check("the sequence refuses the stale link", || {
        link_to_a_recycled_block(|sequence| (u64::from(sequence) << 32) | u64::from(NONE));
    });
}

/// Threads: two producers and main, which appends blocks of one slot. First `tail` is at block 0
/// with sequence 0: one producer reads that, and stalls before it gets a block. Main appends block
/// 1 with sequence 1: the other producer reads this, and stalls before its link. Main appends block
/// 2, and block 1 leaves the queue. The first producer gets block 1. If it prepares it for sequence
/// 1 again, the second one's link succeeds, to a block that is not in the queue.
fn prepare_after_a_stall(second_look: bool) {
    const fn word(sequence: u32, block: u32) -> u64 {
        ((sequence as u64) << 32) | block as u64
    }
    let tail = Arc::new(AtomicU64::new(word(0, 0)));
    let next = Arc::new(AtomicU64::new(word(1, NONE)));
    let released = Arc::new(AtomicU32::new(0));
    let preparer = thread::spawn({
        let (tail, next, released) = (tail.clone(), next.clone(), released.clone());
        move || {
            let seen = tail.load(Ordering::Acquire);
            let given = released.load(Ordering::Acquire) == 1;
            let prepares = given && (!second_look || tail.load(Ordering::Relaxed) == seen);
            if prepares {
                let sequence = (seen >> 32) as u32 + 1;
                next.store(word(sequence, NONE), Ordering::Release);
            }
        }
    });
    let linker = beside_both(&tail, &next, move |tail, next| {
        tail.load(Ordering::Acquire) == word(1, 1)
            && next
                .compare_exchange(
                    word(1, NONE),
                    word(1, 3),
                    Ordering::Release,
                    Ordering::Relaxed,
                )
                .is_ok()
    });
    tail.compare_exchange(word(0, 0), word(1, 1), Ordering::Release, Ordering::Relaxed)
        .expect("only main moves the tail");
    let own = next
        .compare_exchange(
            word(1, NONE),
            word(1, 2),
            Ordering::Release,
            Ordering::Relaxed,
        )
        .is_ok();
    if own {
        tail.compare_exchange(word(1, 1), word(2, 2), Ordering::Release, Ordering::Relaxed)
            .expect("only main moves the tail");
        released.store(1, Ordering::Release);
    }
    preparer.join().unwrap();
    let other = linker.join().unwrap();
    assert!(!(own && other), "a block with two successors");
}

#[test]
fn a_block_prepared_from_a_stale_tail_gets_a_second_successor() {
    Bound::preemptions(3, 1).refute(
        "the sequence after a tail read earlier is new",
        "a block with two successors",
        || prepare_after_a_stall(false),
    );
    Bound::preemptions(3, 100).check("a second look at the tail makes the sequence new", || {
        prepare_after_a_stall(true);
    });
}
