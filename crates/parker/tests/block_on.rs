//! A thread that waits for a future.

use std::future::poll_fn;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Instant;

use filch_parker::{block_on, poll_until};

#[test]
fn another_thread_wakes_the_one_that_waits() {
    let (wakers, woken) = mpsc::channel();
    let waking = thread::spawn(move || {
        for waker in woken {
            Waker::wake(waker);
        }
    });
    let mut polls = 0;
    let output = block_on(poll_fn(|context| {
        polls += 1;
        if polls == 10 {
            return Poll::Ready(polls);
        }
        wakers.send(context.waker().clone()).unwrap();
        Poll::Pending
    }));
    assert_eq!(output, 10);
    drop(wakers);
    waking.join().unwrap();
}

#[test]
fn what_is_ready_at_once_is_polled_once() {
    let mut polls = 0;
    let deadline = Some(Instant::now());
    let output = poll_until(
        deadline,
        poll_fn(|_| {
            polls += 1;
            Poll::Ready(polls)
        }),
    );
    assert_eq!(output, Some(1));
}

#[test]
fn a_deadline_that_has_passed_leaves_one_more_look() {
    let ready_at = |last| {
        let mut polls = 0;
        let future = poll_fn(move |_| {
            polls += 1;
            if polls < last {
                Poll::Pending
            } else {
                Poll::Ready(polls)
            }
        });
        poll_until(Some(Instant::now()), future)
    };
    assert_eq!(
        ready_at(3),
        Some(3),
        "with a waker that does nothing, with one, and at the end"
    );
    assert_eq!(ready_at(4), None);
}
