//! Against `VecDeque` with a limit, on one thread, for any order of calls. Invariants:
//!
//! - a push is refused exactly if the queue holds its capacity, or is closed, and the reason is
//!   named; the event comes back;
//! - events leave in the order in which they came, each once;
//! - `drain` empties the queue, `is_empty` and `is_closed` are exact;
//! - no capacity, no `GAP`, no lap that the positions begin in, and no `reopen` makes a difference;
//! - nothing is leaked, nothing is dropped twice.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::rc::Rc;

use filch_event_queue::{BoundedQueue, Refused};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Push(usize),
    Pop(usize),
    Drain,
    Close,
    Reopen,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        8 => (1_usize..12).prop_map(Call::Push),
        8 => (1_usize..12).prop_map(Call::Pop),
        2 => Just(Call::Drain),
        1 => Just(Call::Close),
        1 => Just(Call::Reopen),
    ];
    prop::collection::vec(call, 0..60)
}

fn run<const GAP: usize>(capacity: u32, lap: u64, calls: &[Call]) -> Result<(), TestCaseError> {
    let token = Rc::new(());
    let limit = capacity as usize;
    let capacity = NonZeroU32::new(capacity).unwrap();
    let queue = BoundedQueue::<(u32, Rc<()>), GAP>::starting_at(capacity, lap);
    let mut model = VecDeque::new();
    let mut closed = false;
    let mut number = 0;
    for call in calls {
        match *call {
            Call::Push(times) => {
                for _ in 0..times {
                    number += 1;
                    let pushed = queue.push((number, Rc::clone(&token)));
                    match pushed {
                        Ok(()) => {
                            prop_assert!(!closed && model.len() < limit);
                            model.push_back(number);
                        }
                        Err(Refused::Full((refused, _))) => {
                            prop_assert!(!closed && model.len() == limit);
                            prop_assert_eq!(refused, number);
                        }
                        Err(Refused::Closed((refused, _))) => {
                            prop_assert!(closed);
                            prop_assert_eq!(refused, number);
                        }
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
    fn any_capacity_from_any_lap(
        capacity in 1_u32..20,
        lap in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        calls in calls(),
    ) {
        run::<0>(capacity, lap, &calls)?;
    }

    #[test]
    fn with_a_gap(capacity in 1_u32..20, calls in calls()) {
        run::<128>(capacity, 0, &calls)?;
    }
}

/// Events without a size take room all the same.
#[test]
fn events_without_a_size() {
    let queue = BoundedQueue::<()>::new(NonZeroU32::new(4).unwrap());
    for _ in 0..4 {
        queue.push(()).unwrap();
    }
    assert_eq!(queue.push(()), Err(Refused::Full(())));
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.pop() }, Some(()));
    // SAFETY: one thread.
    assert_eq!(unsafe { queue.drain(drop) }, 3);
}
