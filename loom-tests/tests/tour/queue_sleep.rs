//! The event queue, stage 5: a receiver that sleeps. Of the queue, the tail is enough.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// A push asks for a sleeper before its claim.
    AsksEarly,
    /// Exercise 5: the receiver looks at the tail by a load.
    LooksByLoad,
    /// The last sender swaps the waker out only if it sees one.
    LastSenderAsks,
}

struct Channel {
    bug: Bug,
    /// Slots that are claimed.
    tail: AtomicUsize,
    senders: AtomicUsize,
    /// 1 while the receiver sleeps, or is about to.
    waker: AtomicUsize,
}

impl Channel {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            tail: AtomicUsize::new(0),
            senders: AtomicUsize::new(1),
            waker: AtomicUsize::new(0),
        })
    }

    // ANCHOR: sleep
    /// Pushes. Returns whether it has woken the receiver.
    fn send(&self) -> bool {
        // ANCHOR_END: sleep
        if self.bug == Bug::AsksEarly {
            let is_asleep = self.is_asleep();
            self.tail.fetch_add(1, Ordering::AcqRel);
            return is_asleep && self.wake();
        }
        // ANCHOR: sleep
        self.tail.fetch_add(1, Ordering::AcqRel); // the claim, then the event
        self.is_asleep() && self.wake()
    }

    fn is_asleep(&self) -> bool {
        self.waker.load(Ordering::Relaxed) != 0
    }

    fn wake(&self) -> bool {
        self.waker.swap(0, Ordering::AcqRel) != 0
    }

    /// Leaves the waker, and looks once more. Returns whether to sleep.
    fn may_sleep(&self) -> bool {
        self.waker.swap(1, Ordering::AcqRel);
        // ANCHOR_END: sleep
        if self.bug == Bug::LooksByLoad {
            return self.tail.load(Ordering::Acquire) == 0;
        }
        // ANCHOR: sleep
        self.tail.fetch_or(0, Ordering::Release) == 0 // nothing is claimed
    }
    // ANCHOR_END: sleep

    /// Counts the last sender out. Returns whether it has woken the receiver.
    fn leave(&self) -> bool {
        self.senders.fetch_sub(1, Ordering::Release);
        (self.bug != Bug::LastSenderAsks || self.is_asleep()) && self.wake()
    }
}

/// A sender does something, while the receiver decides if it sleeps.
fn race(bug: Bug, sender: fn(&Channel) -> bool, receiver: fn(&Channel) -> bool) {
    let channel = Channel::new(bug);
    let sender = beside(&channel, sender);
    let sleeps = receiver(&channel);
    let woken = sender.join().unwrap();
    assert!(woken || !sleeps, "asleep, and nobody wakes it");
}

#[test]
fn stage_5_a_receiver_sleeps_beside_no_event() {
    Bound::exhaustive(15).check_and_refute(
        "queue 5: leave a waker, look by an RMW",
        |bug| race(bug, Channel::send, Channel::may_sleep),
        &[
            // The receiver leaves its waker, and looks, between the question and the claim.
            (Bug::AsksEarly, "nobody wakes it"),
            // The load is old, and puts the waker before no claim.
            (Bug::LooksByLoad, "nobody wakes it"),
        ],
    );
}

/// The last sender goes; the receiver leaves its waker, and then asks if there are senders.
#[test]
fn stage_5_the_last_sender_ends_the_sleep() {
    Bound::exhaustive(15).check_and_refute(
        "queue 5: the last sender swaps in any case",
        |bug| {
            race(bug, Channel::leave, |channel| {
                channel.waker.swap(1, Ordering::AcqRel);
                channel.senders.load(Ordering::Acquire) > 0
            });
        },
        // Its look may be old.
        &[(Bug::LastSenderAsks, "nobody wakes it")],
    );
}
