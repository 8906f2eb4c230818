//! Against `VecDeque`, on one thread, for any order of calls. Invariants:
//!
//! - events leave in the order in which they came, each once;
//! - `drain` empties the queue, `drain_up_to` takes its share and says whether that was all,
//!   `is_empty` and `is_closed` are exact;
//! - a closed queue refuses with the event, and keeps what it had;
//! - no size of a block, and no call of `shrink`, makes a difference;
//! - a sink that panics costs the event that it was called with;
//! - `reopen` works where the queue is closed and empty, and only there; a push for an earlier life
//!   is refused;
//! - nothing is leaked, nothing is dropped twice.
//!
//! Pushes that stall are in `src/channel/tests`.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use filch_event_queue::{Closed, EventQueue, PushError, ReopenError};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Push(usize),
    /// For the life that is that many before the present one.
    PushIn(u32),
    Pop(usize),
    Drain,
    /// Up to that many.
    DrainUpTo(usize),
    /// A drain whose sink panics at that event, if there are as many.
    CutDrain(usize),
    Close,
    Reopen,
    Shrink,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        8 => (1_usize..12).prop_map(Call::Push),
        8 => (1_usize..12).prop_map(Call::Pop),
        2 => (0_u32..3).prop_map(Call::PushIn),
        2 => Just(Call::Drain),
        6 => (0_usize..12).prop_map(Call::DrainUpTo),
        2 => (1_usize..8).prop_map(Call::CutDrain),
        1 => Just(Call::Close),
        1 => Just(Call::Reopen),
        1 => Just(Call::Shrink),
    ];
    prop::collection::vec(call, 0..60)
}

type Event = (u32, Rc<()>);

fn run(queue: EventQueue<Event>, calls: &[Call]) -> Result<(), TestCaseError> {
    let token = Rc::new(());
    let mut model = VecDeque::new();
    let mut closed = false;
    let mut number = 0;
    let mut life = 0_u32;
    for call in calls {
        match *call {
            Call::Push(times) => {
                for _ in 0..times {
                    number += 1;
                    match queue.push((number, Rc::clone(&token))) {
                        Ok(()) => model.push_back(number),
                        Err(Closed((refused, _))) => prop_assert!(closed && refused == number),
                    }
                }
            }
            Call::PushIn(lives_ago) => {
                number += 1;
                let meant = life.wrapping_sub(lives_ago);
                match queue.push_in(meant, (number, Rc::clone(&token))) {
                    Ok(()) => model.push_back(number),
                    Err(PushError::Stale((refused, _))) => {
                        prop_assert!(lives_ago > 0 && refused == number);
                    }
                    Err(PushError::Closed((refused, _))) => {
                        prop_assert!(closed && lives_ago == 0 && refused == number);
                    }
                    Err(other) => prop_assert!(false, "{other}"),
                }
            }
            Call::Pop(times) => {
                for _ in 0..times {
                    // SAFETY: one thread.
                    let event = unsafe { queue.pop() };
                    prop_assert_eq!(event.map(|event| event.0), model.pop_front());
                }
            }
            Call::Drain => {
                let mut events = VecDeque::new();
                // SAFETY: one thread.
                let moved = unsafe { queue.drain(|event| events.push_back(event.0)) };
                prop_assert_eq!(moved, events.len());
                prop_assert_eq!(&events, &model);
                model.clear();
            }
            Call::DrainUpTo(max) => {
                let mut events = Vec::new();
                // SAFETY: one thread.
                let more = unsafe { queue.drain_up_to(max, |event| events.push(event.0)) };
                let taken: Vec<_> = model.drain(..max.min(model.len())).collect();
                prop_assert_eq!(events, taken);
                prop_assert_eq!(more, !model.is_empty());
            }
            Call::CutDrain(at) => {
                let mut events = Vec::new();
                let drained = catch_unwind(AssertUnwindSafe(|| {
                    let sink = |(number, _): Event| {
                        events.push(number);
                        if events.len() == at {
                            resume_unwind(Box::new(()));
                        }
                    };
                    // SAFETY: one thread.
                    unsafe { queue.drain(sink) }
                }));
                prop_assert_eq!(drained.is_err(), model.len() >= at);
                let taken: Vec<_> = model.drain(..at.min(model.len())).collect();
                prop_assert_eq!(events, taken);
            }
            Call::Close => {
                queue.close();
                closed = true;
            }
            Call::Reopen => {
                // SAFETY: one thread.
                let reopened = unsafe { queue.reopen() };
                let expected = match (closed, model.is_empty()) {
                    (false, _) => Err(ReopenError::Open),
                    (true, false) => Err(ReopenError::Unfinished),
                    (true, true) => Ok(life + 1),
                };
                prop_assert_eq!(reopened, expected);
                if reopened.is_ok() {
                    life += 1;
                    closed = false;
                }
            }
            Call::Shrink => {
                // SAFETY: one thread.
                let bare = unsafe { queue.shrink() };
                prop_assert_eq!(bare, model.is_empty());
            }
        }
        prop_assert_eq!(queue.is_empty(), model.is_empty());
        prop_assert_eq!(queue.is_closed(), closed);
        prop_assert_eq!(Rc::strong_count(&token), 1 + model.len());
    }
    drop(queue);
    prop_assert_eq!(Rc::strong_count(&token), 1);
    Ok(())
}

proptest! {
    #[test]
    fn blocks_of_any_sizes(first in 1_usize..=255, largest in 1_usize..=511, calls in calls()) {
        run(EventQueue::with_blocks(first, largest), &calls)?;
    }

    #[test]
    fn small_blocks(first in 1_usize..4, largest in 1_usize..4, calls in calls()) {
        run(EventQueue::with_blocks(first, largest), &calls)?;
    }

    #[test]
    fn the_sizes_of_a_new_one(calls in calls()) {
        run(EventQueue::new(), &calls)?;
    }
}

/// A block has a slot at least, and no more than a word can count, whatever is asked for.
#[test]
fn sizes_have_bounds() {
    for (first, largest) in [(0, 0), (1, 0), (usize::MAX, usize::MAX), (255, 40_000)] {
        let queue = EventQueue::with_blocks(first, largest);
        (0..100_000).for_each(|event| queue.push(event).unwrap());
        // SAFETY: one thread.
        assert!((0..100_000).all(|event| unsafe { queue.pop() } == Some(event)));
    }
}

/// Events without a size have places in the queue all the same.
#[test]
fn events_without_a_size() {
    let queue = EventQueue::with_blocks(4, 4);
    for _ in 0..9 {
        queue.push(()).unwrap();
    }
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.pop() }, Some(()));
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 8);
}

/// An event that is aligned more than a block needs to be.
#[test]
fn events_with_a_large_alignment() {
    #[derive(Debug, PartialEq)]
    #[repr(align(256))]
    struct Aligned(u8);

    let queue = EventQueue::new();
    for round in 0..3 {
        for event in 0..20 {
            queue.push(Aligned(event)).unwrap();
        }
        for event in 0..20 {
            // SAFETY: one thread.
            let popped = unsafe { queue.pop() }.unwrap();
            assert_eq!((&raw const popped).addr() % 256, 0);
            assert_eq!(popped, Aligned(event), "round {round}");
        }
    }
}
