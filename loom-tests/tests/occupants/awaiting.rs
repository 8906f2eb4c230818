//! Races of the worker that ends a process with a future that awaits its handle.

use std::sync::Arc as StdArc;
use std::task::Poll;

use filch_models::Bound;
use filch_parker::Parker;
use filch_sync::Arc;

use super::exit::Ending;

use crate::awake::Awake;

impl Ending {
    fn poll(&self, waker: &StdArc<Awake>) -> Poll<Arc<usize>> {
        let waker = waker.waker();
        // SAFETY: the test has the handle, and does not poll again when it has got the exit.
        let polled = unsafe { self.table.poll(self.pid, &waker) };
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
    Bound::exhaustive(100)
        .outcomes("an end races an exchange of wakers", || {
            let ending = Ending::begin();
            let (first_parker, second_parker) = (Parker::new(), Parker::new());
            let (first, second) = (Awake::new(&first_parker), Awake::new(&second_parker));
            let polls = 'ready: {
                if ending.poll(&first).is_ready() {
                    break 'ready 1;
                }
                if ending.poll(&second).is_ready() {
                    break 'ready 2;
                }
                second_parker.park();
                let polled = ending.poll(&second);
                assert!(polled.is_ready(), "woken for nothing");
                3
            };
            ending.table.forget(ending.pid);
            ending.table.drop_handle(ending.pid);
            ending.finish();
            let woken = [&first, &second].map(|waker| waker.wakes());
            let counts = [&first, &second].map(StdArc::strong_count);
            assert_eq!(counts, [1, 1], "its clones are gone");
            (polls, woken[0], woken[1])
        })
        // The second poll finds the exit: either the worker woke the first waker, or it came in the
        // middle of the exchange, when there was none.
        .assert_exactly([(1, 0, 0), (2, 1, 0), (2, 0, 0), (3, 0, 1)]);
}

/// Two threads: the worker ends the process, its handle is polled once and dropped. Failure: a
/// leak, or a double drop, of the exit or the waiter; a waker that is called after its handle's
/// drop has returned.
#[test]
fn an_end_meets_a_handle_that_was_polled_and_is_dropped() {
    Bound::exhaustive(40)
        .outcomes("an end races the drop of a handle that was polled", || {
            let ending = Ending::begin();
            let parker = Parker::new();
            let waker = Awake::new(&parker);
            let polled = ending.poll(&waker).is_ready();
            ending.table.forget(ending.pid);
            ending.table.drop_handle(ending.pid);
            ending.finish();
            assert_eq!(StdArc::strong_count(&waker), 1, "its clone is gone");
            (polled, waker.wakes())
        })
        .assert_exactly([(true, 0), (false, 0), (false, 1)]);
}
