//! The state word, stage 5: the last pin, and the place for another process.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

use super::{Bug, MESSAGE, OVER, Slot, VACATED, is_at_rest};

struct Pinned {
    pins: AtomicU32,
    slot: Slot,
}

impl Pinned {
    // ANCHOR: leave
    /// Gives a pin back. The last one out vacates the place.
    fn leave(&self) {
        if self.pins.fetch_sub(1, self.unpinning()) > 1 {
            return; // AcqRel: what it did with the pin comes before what the last one does
        }
        let old = self.slot.word.fetch_or(VACATED | MESSAGE, Ordering::AcqRel);
        // ANCHOR_END: leave
        if self.slot.bug == Bug::GivesAwayBlindly {
            self.slot.drain();
            return self.slot.give_away();
        }
        // ANCHOR: leave
        if is_at_rest(old) {
            self.slot.dispose();
        } // else whoever has the queue is told that the place is vacated
    }
    // ANCHOR_END: leave

    fn unpinning(&self) -> Ordering {
        match self.slot.bug {
            Bug::UnpinRelaxed => Ordering::Relaxed,
            _ => Ordering::AcqRel,
        }
    }
}

/// The life is over. Two threads give their pins back, and a sender comes that has claimed its
/// place in the queue before the end.
#[test]
fn stage_5_the_last_one_out_vacates_the_place() {
    Bound::exhaustive(2_000).check_and_refute(
        "state 5: two pins and a late sender",
        |bug| {
            let pinned = Arc::new(Pinned {
                pins: AtomicU32::new(2),
                slot: Slot::new(bug, OVER),
            });
            let leave = |pinned: &Pinned| {
                assert_eq!(pinned.slot.place.get(), 0);
                pinned.leave();
            };
            let sender = beside(&pinned, |pinned| pinned.slot.send(0));
            let holder = beside(&pinned, leave);
            leave(&pinned);
            holder.join().unwrap();
            sender.join().unwrap();
            assert!(pinned.slot.taken.get()[0], "an event was left behind");
            assert_eq!(pinned.slot.place.get(), 1, "nobody gives the place away");
        },
        &[
            // The sender empties the queue at this time.
            (Bug::GivesAwayBlindly, "Causality violation"),
            // The sender has not filled its place in the queue.
            (Bug::GivesAwayEarly, "an event was left behind"),
            // What the other holder reads is overwritten, without an edge.
            (Bug::UnpinRelaxed, "Causality violation"),
        ],
    );
}
