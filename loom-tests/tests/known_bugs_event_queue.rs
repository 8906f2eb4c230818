//! Ways to get an event queue wrong, each in a small copy of it, and each caught.
//!
//! The copy keeps what the bugs are about: a tail that is claimed by CAS, slots with a flag, a
//! consumer that passes over slots that are not full. It has a fixed number of slots and no blocks;
//! the bugs of blocks are shown on other copies.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use loom_tests::{Bound, Crossing, beside, beside_both, tell};

/// The bug of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// A drain looks at what is claimed meanwhile, and not only at slots up to where the tail was
    /// when it began.
    NoSnapshot,
    /// A claim acquires, and does not release.
    ClaimReleasesNothing,
    /// The flag of a slot is stored relaxed.
    RelaxedFlag,
    /// The queue is closed by a load and a store.
    CloseByStore,
}

const CLOSED: usize = 8;

struct Slot {
    full: AtomicBool,
    value: UnsafeCell<char>,
}

struct Queue {
    bug: Bug,
    tail: AtomicUsize,
    slots: [Slot; 2],
    /// The crossing at which each call begins.
    crossing: Crossing,
}

impl Queue {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            tail: AtomicUsize::new(0),
            crossing: Crossing::new(),
            slots: [(); 2].map(|()| Slot {
                full: AtomicBool::new(false),
                value: UnsafeCell::new('-'),
            }),
        })
    }

    fn push(&self, event: char) -> Result<(), char> {
        self.crossing.pass();
        let mut tail = self.tail.load(Ordering::Acquire);
        while tail & CLOSED == 0 {
            let claim = match self.bug {
                Bug::ClaimReleasesNothing => Ordering::Acquire,
                _ => Ordering::AcqRel,
            };
            match self
                .tail
                .compare_exchange(tail, tail + 1, claim, Ordering::Acquire)
            {
                Ok(_) => {
                    let slot = &self.slots[tail];
                    // SAFETY: claimed by this thread alone; the consumer waits for the flag.
                    slot.value.with_mut(|value| unsafe { *value = event });
                    let fill = match self.bug {
                        Bug::RelaxedFlag => Ordering::Relaxed,
                        _ => Ordering::Release,
                    };
                    slot.full.store(true, fill);
                    return Ok(());
                }
                Err(now) => tail = now,
            }
        }
        Err(event)
    }

    fn close(&self) {
        if self.bug == Bug::CloseByStore {
            let word = self.tail.load(Ordering::Acquire);
            self.tail.store(word | CLOSED, Ordering::Release);
        } else {
            self.tail.fetch_or(CLOSED, Ordering::Release);
        }
    }

    /// Delivers the full slots among those that `taken` does not name.
    fn drain(&self, taken: &mut [bool; 2]) -> Vec<char> {
        self.crossing.pass();
        let claimed = || self.tail.load(Ordering::Acquire) & !CLOSED;
        let snapshot = claimed();
        let mut events = Vec::new();
        let mut index = 0;
        while index < snapshot || self.bug == Bug::NoSnapshot && index < claimed() {
            let slot = &self.slots[index];
            if !taken[index] && slot.full.load(Ordering::Acquire) {
                taken[index] = true;
                // SAFETY: the flag says that the producer is done.
                events.push(slot.value.with(|value| unsafe { *value }));
            }
            index += 1;
        }
        events
    }
}

/// A pushes `x` and tells B, which pushes `y`; both are drained, `y` never first.
#[test]
fn told_pushes() {
    Bound::preemptions(3, 100).check_and_refute(
        "an event is never delivered before one that its producer knew to be pushed",
        |bug| {
            let queue = Queue::new(bug);
            let (a, b) = tell(
                &queue,
                |queue| queue.push('x').unwrap(),
                |queue| queue.push('y').unwrap(),
            );
            let mut taken = [false; 2];
            let mut events = queue.drain(&mut taken);
            a.join().unwrap();
            b.join().unwrap();
            events.extend(queue.drain(&mut taken));
            assert!(matches!(events[..], ['x'] | ['x', 'y']), "overtaken");
        },
        &[
            // The drain passes over `x`, whose push is under way; `x` is completed, B learns of it,
            // claims and fills the next slot; and the drain, which goes on to that, delivers `y`.
            (Bug::NoSnapshot, "overtaken"),
            // The snapshot shows B's claim, and not yet that the slot before it is full.
            (Bug::ClaimReleasesNothing, "overtaken"),
            // The consumer sees the slot full, and reads it while it is written.
            (Bug::RelaxedFlag, "Causality violation"),
        ],
    );
}

/// A push beside a close. The queue then holds the event, if it was accepted.
#[test]
fn a_push_beside_a_close() {
    Bound::preemptions(3, 2).check_and_refute(
        "a close is an exchange",
        |bug| {
            let queue = Queue::new(bug);
            let producer = beside(&queue, |queue| queue.push('x').is_ok());
            queue.close();
            let accepted = producer.join().unwrap();
            let events = queue.drain(&mut [false; 2]);
            assert_eq!(
                events.len(),
                usize::from(accepted),
                "an accepted event was lost"
            );
        },
        // A claim between the load and the store is undone, and its slot given out twice or never
        // drained.
        &[(Bug::CloseByStore, "an accepted event was lost")],
    );
}

/// A list of blocks whose back link is written after the block is installed: the consumer finds the
/// new block as the tail, and no way from there to the one that it knows.
#[test]
fn a_link_written_after_the_installation_is_missing() {
    Bound::preemptions(3, 2).refute(
        "a block can be linked after it was installed",
        "Causality violation",
        || {
            struct Block {
                prev: UnsafeCell<usize>,
            }
            // Block 0 is the one that the consumer knows; the tail is the number of the last block.
            let blocks = Arc::new([0, 0].map(|prev| Block {
                prev: UnsafeCell::new(prev),
            }));
            let tail = Arc::new(AtomicUsize::new(0));
            let producer = beside_both(&blocks, &tail, move |blocks, tail| {
                let prev = tail.swap(1, Ordering::AcqRel);
                // SAFETY: the bug: the consumer can reach the block already.
                blocks[1].prev.with_mut(|cell| unsafe { *cell = prev });
            });
            if tail.load(Ordering::Acquire) == 1 {
                // SAFETY: the bug's other half.
                assert_eq!(blocks[1].prev.with(|prev| unsafe { *prev }), 0);
            }
            producer.join().unwrap();
        },
    );
}

/// A push that was meant for the first life, and the consumer, which ends that life and begins the
/// next. Gives what arrived in the second life.
fn stale_push(ask_after_the_claim: bool) {
    let tail = Arc::new(AtomicUsize::new(0));
    let generation = Arc::new(AtomicUsize::new(0));
    let producer = beside_both(&tail, &generation, move |tail, generation| {
        let meant = |generation: &AtomicUsize| generation.load(Ordering::Relaxed) == 0;
        meant(&generation)
            && tail
                .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            && (!ask_after_the_claim || meant(&generation))
    });
    let reopened = tail.fetch_or(CLOSED, Ordering::Release) == 0;
    if reopened {
        // Closed, and no slot is claimed.
        generation.store(1, Ordering::Relaxed);
        tail.fetch_and(!CLOSED, Ordering::Release);
    }
    let accepted = producer.join().unwrap();
    assert!(!(reopened && accepted), "an event of an earlier life");
}

/// A generation that is asked before the claim only: the producer sleeps in between, the queue is
/// reopened with the tail where it was, and the claim succeeds in the next life.
#[test]
fn a_generation_asked_before_the_claim_lets_a_stale_push_in() {
    Bound::exhaustive(5).check("a push for an earlier life is refused", || stale_push(true));
    Bound::exhaustive(2).refute(
        "it is enough to ask for the generation before the claim",
        "an event of an earlier life",
        || stale_push(false),
    );
}

/// A spare block that is stored over another one: a producer may have taken the first, or not; if
/// not, nothing leads to it any more.
#[test]
fn a_spare_stored_over_another_is_lost() {
    Bound::exhaustive(2).refute(
        "the consumer can keep each block that it leaves, without asking",
        "a block was lost",
        || {
            let spare = Arc::new(AtomicUsize::new(0));
            let producer = beside(&spare, |spare| spare.swap(0, Ordering::Acquire));
            // Blocks 1 and 2 are spent.
            spare.swap(1, Ordering::Release);
            spare.swap(2, Ordering::Release);
            let taken = producer.join().unwrap();
            let left = spare.load(Ordering::Relaxed);
            assert_eq!(taken + left, 1 + 2, "a block was lost");
        },
    );
}
