//! The event queue, stages 3 and 4: slots with a state each, and a consumer that passes over one.

use std::ops::Range;

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::{Plain, told_pushes};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 3: the consumer stops at a slot that is not full.
    StopsAtGap,
    /// Exercise 3: a slot's state is stored Relaxed.
    FullRelaxed,
    /// Stage 4: the consumer follows the tail.
    NoSnapshot,
    /// Exercise 4: a claim acquires, and does not release.
    ClaimReleasesNothing,
}

const FULL: u32 = 1;
const TAKEN: u32 = 2;

// ANCHOR: push
struct Slot {
    /// 0, then `FULL`, then `TAKEN`.
    state: AtomicU32,
    event: Plain<usize>,
}

struct Queue {
    /// Slots that are claimed.
    tail: AtomicUsize,
    slots: [Slot; 2],
    // ANCHOR_END: push
    bug: Bug,
    // ANCHOR: push
}

impl Queue {
    fn push(&self, event: usize) {
        let index = self.tail.fetch_add(1, self.claiming()); // AcqRel
        let slot = &self.slots[index]; // ours
        slot.event.set(event);
        slot.state.store(FULL, self.filling()); // Release
    }
    // ANCHOR_END: push

    // ANCHOR: drain
    fn drain(&self) -> Vec<usize> {
        let mut events = Vec::new();
        let limit = self.tail.load(Ordering::Acquire); // the snapshot
        self.scan(0..limit, &mut events);
        // ANCHOR_END: drain
        if self.bug == Bug::NoSnapshot {
            let now = self.tail.load(Ordering::Acquire);
            self.scan(limit..now, &mut events);
        }
        // ANCHOR: drain
        events
    }

    fn scan(&self, claimed: Range<usize>, events: &mut Vec<usize>) {
        for slot in &self.slots[claimed] {
            match slot.state.load(Ordering::Acquire) {
                FULL => {
                    events.push(slot.event.get());
                    slot.state.store(TAKEN, Ordering::Relaxed);
                }
                TAKEN => {}
                // ANCHOR_END: drain
                _ if self.bug == Bug::StopsAtGap => break,
                // ANCHOR: drain
                _ => {} // its producer is not done: pass over it
            }
        }
    }
    // ANCHOR_END: drain

    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            tail: AtomicUsize::new(0),
            slots: [(); 2].map(|()| Slot {
                state: AtomicU32::new(0),
                event: Plain::new(0),
            }),
        })
    }

    fn claiming(&self) -> Ordering {
        match self.bug {
            Bug::ClaimReleasesNothing => Ordering::Acquire,
            _ => Ordering::AcqRel,
        }
    }

    fn filling(&self) -> Ordering {
        match self.bug {
            Bug::FullRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        }
    }
    // ANCHOR: push
}
// ANCHOR_END: push

fn race(bug: Bug) {
    told_pushes(Queue::new(bug), Queue::push, Queue::drain);
}

#[test]
fn stage_3_a_consumer_that_stops_keeps_the_order_and_is_held_up() {
    Bound::exhaustive(2_500).check("queue 3: slots, one after the other", || {
        race(Bug::StopsAtGap);
    });
    let claim = "queue 3: a returned push is found";
    Bound::exhaustive(30).check_and_refute(
        claim,
        |bug| {
            let queue = Queue::new(bug);
            let slow = beside(&queue, |queue| queue.push(1));
            queue.push(2);
            let events = queue.drain();
            slow.join().unwrap();
            assert!(events.contains(&2), "a returned push is held up");
        },
        // The other one has claimed the first slot, and sleeps.
        &[(Bug::StopsAtGap, "a returned push is held up")],
    );
}

#[test]
fn stage_4_a_scan_ends_at_its_snapshot() {
    Bound::exhaustive(2_500).check_and_refute(
        "queue 4: a consumer that passes over a slot",
        race,
        &[
            // The scan passes over event 1, whose push then returns. Event 2 is claimed and filled,
            // and the scan, which goes on to it, delivers it.
            (Bug::NoSnapshot, "overtaken"),
            // The snapshot shows the second claim, and not yet that the slot before it is full.
            (Bug::ClaimReleasesNothing, "overtaken"),
            // The consumer sees the slot full, and has no edge from the write of the event.
            (Bug::FullRelaxed, "Causality violation"),
        ],
    );
}
