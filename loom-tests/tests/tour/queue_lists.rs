//! The event queue, stages 1 and 2: a lock around a list; a stack that the consumer takes whole.

use std::mem;

use filch_models::{Bound, tell};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex, lock};

use super::{Plain, told_pushes};

// ANCHOR: locked
#[derive(Default)]
struct Locked {
    events: Mutex<Vec<usize>>,
    /// Exercise 1: a consumer that reads 0 here does not take the lock.
    count: AtomicUsize,
}

impl Locked {
    fn push(&self, event: usize) {
        let mut events = lock(&self.events);
        events.push(event);
        self.count.store(events.len(), Ordering::Relaxed);
    }

    fn drain(&self) -> Vec<usize> {
        let mut events = lock(&self.events);
        self.count.store(0, Ordering::Relaxed);
        mem::take(&mut *events)
    }
}
// ANCHOR_END: locked

#[test]
fn stage_1_a_lock_is_sound() {
    Bound::exhaustive(900).check("queue 1: a lock", || {
        told_pushes(Arc::<Locked>::default(), Locked::push, Locked::drain);
    });
}

/// One thread pushes, and tells another one, which looks at the count before it takes the lock. The
/// telling is an edge, and the count behind it is no older than the push.
#[test]
fn exercise_1_a_count_beside_the_lock_may_be_trusted() {
    Bound::exhaustive(1_000).check("queue 1: a count that is Relaxed", || {
        let (producer, consumer) = tell(
            &Arc::<Locked>::default(),
            |queue| queue.push(1),
            |queue| {
                let count = queue.count.load(Ordering::Relaxed);
                assert_eq!(count, 1, "a push that is known of is missed");
                assert_eq!(queue.drain(), [1]);
            },
        );
        producer.join().unwrap();
        consumer.join().unwrap();
    });
}

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// A push exchanges `head` by a Relaxed access.
    PushRelaxed,
    /// Exercise 2: a push swaps `head`, which never fails, and links afterwards.
    LinksLater,
}

// ANCHOR: stack
/// After Treiber (1986). An event's number is its node's name; 0 ends the list.
struct Stack {
    head: AtomicUsize,
    next: [Plain<usize>; 3],
    // ANCHOR_END: stack
    bug: Bug,
    // ANCHOR: stack
}

impl Stack {
    fn push(&self, event: usize) {
        // ANCHOR_END: stack
        if self.bug == Bug::LinksLater {
            let head = self.head.swap(event, Ordering::AcqRel);
            return self.next[event].set(head);
        }
        // ANCHOR: stack
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            self.next[event].set(head);
            let (ok, failed) = (self.publishing(), Ordering::Relaxed); // Release
            match self.head.compare_exchange(head, event, ok, failed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes all that is there, by one exchange: the youngest comes first, so it turns them around.
    fn drain(&self) -> Vec<usize> {
        let mut event = self.head.swap(0, Ordering::Acquire);
        let mut events = Vec::new();
        while event != 0 {
            events.push(event);
            event = self.next[event].get();
        }
        events.reverse();
        events
    }
    // ANCHOR_END: stack

    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            head: AtomicUsize::new(0),
            next: std::array::from_fn(|_| Plain::new(0)),
        })
    }

    fn publishing(&self) -> Ordering {
        match self.bug {
            Bug::PushRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        }
    }
    // ANCHOR: stack
}
// ANCHOR_END: stack

#[test]
fn stage_2_a_stack_that_is_taken_whole_is_sound() {
    Bound::exhaustive(800).check_and_refute(
        "queue 2: a stack, taken and turned around",
        |bug| told_pushes(Stack::new(bug), Stack::push, Stack::drain),
        &[
            // The consumer has the node, and no edge from the write of its link.
            (Bug::PushRelaxed, "Causality violation"),
            // The consumer has the node before it is linked: no way leads to the older ones.
            (Bug::LinksLater, "Causality violation"),
        ],
    );
}
