//! The event queue with panicking destructors and large events.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_event_queue::{EventQueue, channel};
use hostile_tests::{Bomb, Squad, explosion_of, held, on_a_small_stack};

#[test]
fn blocks_of_large_events_fit_a_small_stack() {
    // A channel-sized block would have half a megabyte.
    on_a_small_stack(256 << 10, || {
        let queue = EventQueue::<[u8; 8192]>::with_blocks(64, 64);
        for number in 0..200 {
            queue.push([number; 8192]).unwrap();
        }
        let mut next = 0;
        // SAFETY: nobody else consumes.
        unsafe {
            queue.drain(|event| {
                assert_eq!(event[8191], next);
                next += 1;
            });
        }
        assert_eq!(next, 200);
    });
}

const EVENTS: u32 = 500;

/// Fills queues with bombs by `fill`, which returns what to drop. Asks that the drop is complete,
/// and that the first panic comes out of it.
fn all_are_dropped<Q>(fill: impl Fn(&mut dyn Iterator<Item = Bomb>) -> Q) {
    let some = [0, 1, 250, EVENTS - 1].map(|live| vec![live]);
    let many = [(3, 7), (0, 1)].map(|(first, step)| (first..EVENTS).step_by(step).collect());
    for live in some.into_iter().chain(many) {
        let squad = Squad::new(live.iter().copied());
        let before = held();
        let queue = fill(&mut squad.bombs(0..EVENTS));
        assert_eq!(explosion_of(|| drop(queue)), live.first().copied());
        squad.assert_dropped(EVENTS);
        assert_eq!(held(), before, "memory is left behind");
    }
}

#[test]
fn a_destructor_that_panics_keeps_no_other_from_running() {
    all_are_dropped(|bombs| {
        let queue = EventQueue::new();
        bombs.for_each(|bomb| queue.push(bomb).unwrap());
        queue
    });
    // With a spare block.
    all_are_dropped(|bombs| {
        let queue = EventQueue::with_blocks(1, 3);
        for _ in 0..200 {
            queue.push(None).unwrap();
        }
        // SAFETY: nobody else consumes.
        assert_eq!(unsafe { queue.drain(drop) }, 200);
        bombs.for_each(|bomb| queue.push(Some(bomb)).unwrap());
        queue
    });
    all_are_dropped(|bombs| {
        let (sender, receiver) = channel();
        bombs.for_each(|bomb| sender.push(bomb).unwrap());
        drop(sender);
        receiver
    });
}

/// A queue that is dropped because its thread panics. Its own panic would be the second, and end
/// the program.
#[test]
fn while_the_thread_unwinds() {
    let squad = Squad::new(0..EVENTS);
    let queue = EventQueue::new();
    squad
        .bombs(0..EVENTS)
        .for_each(|bomb| queue.push(bomb).unwrap());
    let panic = catch_unwind(AssertUnwindSafe(move || {
        let _queue = queue;
        resume_unwind(Box::new("of the thread"));
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"of the thread"));
    squad.assert_dropped(EVENTS);
}
