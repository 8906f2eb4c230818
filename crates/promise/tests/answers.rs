//! Answers: exactly one comes in any case.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use filch_promise::{Answer, Reply, answer};

/// The end that answers is gone.
#[derive(Debug, Default, PartialEq, Eq)]
struct Gone;

fn poll(answer: &mut Answer<u32, Gone>, waker: &Waker) -> Poll<Result<u32, Gone>> {
    Pin::new(answer).poll(&mut Context::from_waker(waker))
}

#[test]
fn a_thread_waits_for_the_answer() {
    let (reply, answer) = answer::<_, Gone, Gone>();
    let waiting = thread::spawn(move || answer.wait());
    reply.tell(Ok(42));
    assert_eq!(waiting.join().unwrap(), Ok(42));
}

#[test]
fn a_reply_that_is_dropped_says_so() {
    let (reply, mut answer): (Reply<_, _, Gone>, _) = answer();
    assert!(!answer.is_ready());
    assert_eq!(poll(&mut answer, Waker::noop()), Poll::Pending);
    drop(reply);
    assert!(answer.is_ready());
    assert_eq!(answer.wait(), Err(Gone));
}

#[test]
fn what_is_there_needs_no_other_end() {
    let mut answer = Answer::ready(Ok(42));
    assert!(answer.is_ready());
    assert_eq!(poll(&mut answer, Waker::noop()), Poll::Ready(Ok(42)));
}

#[test]
#[should_panic(expected = "polled again after it was ready")]
fn an_answer_is_seen_once() {
    let mut answer = Answer::ready(Ok(42));
    let _ = poll(&mut answer, Waker::noop());
    let _ = poll(&mut answer, Waker::noop());
}

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        panic!("a waker");
    }
}

#[test]
fn a_panic_of_the_waker_ends_where_the_answer_is_given() {
    let (reply, mut answer): (Reply<_, _, Gone>, _) = answer();
    let waker = Waker::from(Arc::new(Panicking));
    assert_eq!(poll(&mut answer, &waker), Poll::Pending);
    reply.tell(Ok(42));
    assert_eq!(answer.wait(), Ok(42));
}

#[test]
fn an_answer_that_is_prepared_comes_later() {
    let (reply, answer) = answer::<_, Gone, Gone>();
    let wake = reply.prepare(Ok(42));
    assert!(!answer.is_ready());
    drop(wake);
    assert_eq!(answer.wait(), Ok(42));
}
