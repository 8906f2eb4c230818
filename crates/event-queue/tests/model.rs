//! Against `VecDeque`, on one thread, for any order of calls. Invariants:
//!
//! - events leave in the order in which they came, each once;
//! - `drain` empties the queue, `is_empty` and `is_closed` are exact;
//! - a closed queue refuses with the event, and keeps what it had;
//! - no capacity, and no call of `shrink` or `reopen`, makes a difference;
//! - nothing is leaked, nothing is dropped twice.

use std::collections::VecDeque;
use std::rc::Rc;

use filch_event_queue::{Closed, EventQueue};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Push(usize),
    Pop(usize),
    Drain,
    Close,
    Reopen,
    Shrink,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        8 => (1_usize..12).prop_map(Call::Push),
        8 => (1_usize..12).prop_map(Call::Pop),
        2 => Just(Call::Drain),
        1 => Just(Call::Close),
        1 => Just(Call::Reopen),
        1 => Just(Call::Shrink),
    ];
    prop::collection::vec(call, 0..60)
}

fn run<const CAP: usize>(calls: &[Call]) -> Result<(), TestCaseError> {
    let token = Rc::new(());
    let queue = EventQueue::<(u32, Rc<()>), CAP>::new();
    let mut model = VecDeque::new();
    let mut closed = false;
    let mut number = 0;
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
            Call::Close => {
                queue.close();
                closed = true;
            }
            Call::Reopen => {
                // SAFETY: one thread.
                unsafe { queue.reopen() };
                closed = false;
                model.clear();
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
    fn one_slot_per_block(calls in calls()) {
        run::<1>(&calls)?;
    }

    #[test]
    fn three_slots_per_block(calls in calls()) {
        run::<3>(&calls)?;
    }

    #[test]
    fn the_usual_capacity(calls in calls()) {
        run::<8>(&calls)?;
    }

    #[test]
    fn the_largest_capacity(calls in calls()) {
        run::<31>(&calls)?;
    }
}

/// Events without a size have places in the queue all the same.
#[test]
fn events_without_a_size() {
    let queue = EventQueue::<(), 4>::new();
    for _ in 0..9 {
        queue.push(()).unwrap();
    }
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.pop() }, Some(()));
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 8);
}
