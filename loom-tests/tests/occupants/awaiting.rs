//! Races of the worker that ends a process with a future that awaits its handle.

use std::sync::Arc as StdArc;
use std::task::{Poll, Wake, Waker};

use filch_parker::{Parker, Unparker};
use filch_scheduler::table::Waiting;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use loom_tests::{Bound, Outcomes, check};

use crate::exit::Ending;

/// Wakes a thread of the model, and counts.
struct Awake {
    unparker: Unparker,
    wakes: AtomicUsize,
}

impl Wake for Awake {
    fn wake(self: StdArc<Self>) {
        // ORDERING: Relaxed, here and below: looked at when the threads are joined.
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.unparker.unpark();
    }
}

fn awake(parker: &Parker) -> StdArc<Awake> {
    StdArc::new(Awake {
        unparker: parker.unparker(),
        wakes: AtomicUsize::new(0),
    })
}

impl Ending {
    fn poll(&self, waiting: &mut Waiting, waker: &StdArc<Awake>) -> Poll<Arc<usize>> {
        let waker = Waker::from(StdArc::clone(waker));
        // SAFETY: the test has the handle, and does not poll again when it has got the exit.
        let polled = unsafe { self.table.poll(self.pid, waiting, &waker) };
        if polled.is_ready() {
            self.assert_published();
        }
        polled
    }
}

/// Two threads: the worker ends the process, its handle is polled with one waker, again with
/// another, and then the thread sleeps until that one is woken. The end comes before, between, in
/// the middle of the exchange, or after. Failure: a deadlock, when the first waker was woken though
/// the second poll was pending; a race on the waiter's box, when the worker takes it while it is
/// used again; a waiter that is freed twice, or never.
#[test]
fn the_last_waker_is_the_one_that_counts() {
    let outcomes = Outcomes::new();
    check(
        "an end races an exchange of wakers",
        Bound::exhaustive(100),
        {
            let outcomes = outcomes.clone();
            move || {
                let ending = Ending::begin();
                let mut waiting = Waiting::default();
                let (first_parker, second_parker) = (Parker::new(), Parker::new());
                let (first, second) = (awake(&first_parker), awake(&second_parker));
                let polls = 'ready: {
                    if ending.poll(&mut waiting, &first).is_ready() {
                        break 'ready 1;
                    }
                    if ending.poll(&mut waiting, &second).is_ready() {
                        break 'ready 2;
                    }
                    second_parker.park();
                    let polled = ending.poll(&mut waiting, &second);
                    assert!(polled.is_ready(), "woken for nothing");
                    3
                };
                ending.table.forget(ending.pid, &mut waiting);
                ending.table.drop_handle(ending.pid);
                ending.finish();
                let woken = [&first, &second].map(|waker| waker.wakes.load(Ordering::Relaxed));
                let counts = [&first, &second].map(StdArc::strong_count);
                assert_eq!(counts, [1, 1], "its clones are gone");
                outcomes.observe((polls, woken[0], woken[1]));
            }
        },
    );
    // The second poll finds the exit: either the worker woke the first waker, or it came in the
    // middle of the exchange, when there was none.
    outcomes.assert_exactly([(1, 0, 0), (2, 1, 0), (2, 0, 0), (3, 0, 1)]);
}

/// Two threads: the worker ends the process, its handle is polled once and dropped. Failure: a
/// leak, or a double drop, of the exit or the waiter; a waker that is called after its handle's
/// drop has returned.
#[test]
fn an_end_meets_a_handle_that_was_polled_and_is_dropped() {
    let outcomes = Outcomes::new();
    check(
        "an end races the drop of a handle that was polled",
        Bound::exhaustive(40),
        {
            let outcomes = outcomes.clone();
            move || {
                let ending = Ending::begin();
                let mut waiting = Waiting::default();
                let parker = Parker::new();
                let waker = awake(&parker);
                let polled = ending.poll(&mut waiting, &waker).is_ready();
                ending.table.forget(ending.pid, &mut waiting);
                ending.table.drop_handle(ending.pid);
                ending.finish();
                assert_eq!(StdArc::strong_count(&waker), 1, "its clone is gone");
                outcomes.observe((polled, waker.wakes.load(Ordering::Relaxed)));
            }
        },
    );
    outcomes.assert_exactly([(true, 0), (false, 0), (false, 1)]);
}
