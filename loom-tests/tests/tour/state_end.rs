//! The state word, stages 4 and 5: the end of a life, after which a thread empties its queue.

mod pins;

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

use super::Plain;

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 4: a sender that comes too late leaves its event to the worker.
    LeavesIt,
    /// Exercise 4: one that finds another one emptying the queue empties it, too.
    EmptiesBeside,
    /// One that has emptied the queue lets go of it without a look for news.
    LetsGoUnseen,
    /// Stage 5: the last one out gives the place away, whatever it finds.
    GivesAwayBlindly,
    /// A pin is given back by a Relaxed subtraction.
    UnpinRelaxed,
    /// Exercise 5: the place is given away beside a push that is under way.
    GivesAwayEarly,
}

// ANCHOR: bits
const MESSAGE: u32 = 1; // news
const HELD: u32 = 2; // of a life that is over: a thread has its queue
const OVER: u32 = 4;
const VACATED: u32 = 8; // nobody needs the place
// ANCHOR_END: bits

/// Says whether the life is over, and nobody has its queue.
fn is_at_rest(word: u32) -> bool {
    word & (OVER | HELD | MESSAGE) == OVER
}

struct Slot {
    bug: Bug,
    word: AtomicU32,
    /// One per sender: 1 once the event is pushed.
    events: [AtomicU32; 2],
    /// The consumer's end of the queue: the events that it has taken out.
    taken: Plain<[bool; 2]>,
    /// The memory that threads with a pin read, and the next occupant overwrites.
    place: Plain<u32>,
}

impl Slot {
    fn new(bug: Bug, word: u32) -> Self {
        Self {
            bug,
            word: AtomicU32::new(word),
            events: [AtomicU32::new(0), AtomicU32::new(0)],
            taken: Plain::new([false; 2]),
            place: Plain::new(0),
        }
    }

    // ANCHOR: end
    /// Ends the life: the worker's last edge.
    fn end(&self) {
        self.drain();
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        while self.word.compare_exchange(0, OVER, ok, failed).is_err() {
            self.word.fetch_and(!MESSAGE, Ordering::Acquire);
            self.drain(); // a wake-up came before the end: this finds its event
        }
    }

    fn wake(&self) {
        let old = self.word.fetch_or(MESSAGE, Ordering::AcqRel);
        // ANCHOR_END: end
        match self.bug {
            Bug::LeavesIt => return,
            Bug::EmptiesBeside if old & OVER != 0 => return self.drain(),
            _ => {}
        }
        // ANCHOR: end
        if is_at_rest(old) {
            self.dispose(); // too late, and the queue is ours now
        } // else whoever has the queue looks again
    }
    // ANCHOR_END: end

    // ANCHOR: dispose
    /// Empties the queue of a life that is over, until there is no news.
    fn dispose(&self) {
        while let Some(old) = self.take_news() {
            self.drain();
            // ANCHOR_END: dispose
            if self.bug == Bug::LetsGoUnseen {
                self.word.fetch_and(!(HELD | MESSAGE), Ordering::AcqRel);
                return;
            }
            // ANCHOR: dispose
            if old & VACATED != 0 && self.is_empty() {
                return self.give_away(); // stage 5
            }
        }
    }

    /// Takes the news, and holds the queue; or lets go of it, as there is none.
    fn take_news(&self) -> Option<u32> {
        let next = |word| match word & MESSAGE {
            0 => word & !HELD,
            _ => word & !MESSAGE | HELD,
        };
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let old = self.word.fetch_update(ok, failed, |word| Some(next(word)));
        old.ok().filter(|old| old & MESSAGE != 0)
    }
    // ANCHOR_END: dispose

    fn send(&self, event: usize) {
        self.events[event].store(1, Ordering::Relaxed);
        self.wake();
    }

    fn drain(&self) {
        let events = self.events.each_ref();
        self.taken
            .set(events.map(|event| event.load(Ordering::Relaxed) == 1));
    }

    /// Says if no push is under way: in stage 5, event 0 is the only one.
    fn is_empty(&self) -> bool {
        self.taken.get()[0] || self.bug == Bug::GivesAwayEarly
    }

    fn give_away(&self) {
        self.place.set(self.place.get() + 1);
    }
}

/// The worker ends the life, and two senders come.
#[test]
fn stage_4_the_last_one_that_comes_empties_the_queue() {
    Bound::exhaustive(60_000).check_and_refute(
        "state 4: an end beside two senders",
        |bug| {
            let slot = Arc::new(Slot::new(bug, 0));
            let senders = [0, 1].map(|event| beside(&slot, move |slot| slot.send(event)));
            slot.end();
            senders
                .into_iter()
                .for_each(|sender| sender.join().unwrap());
            assert_eq!(slot.taken.get(), [true; 2], "an event was left behind");
        },
        &[
            // The worker has looked already.
            (Bug::LeavesIt, "an event was left behind"),
            // Two senders come too late, and both have the queue.
            (Bug::EmptiesBeside, "Causality violation"),
            // The second one relies on the first, which has drained.
            (Bug::LetsGoUnseen, "an event was left behind"),
        ],
    );
}
