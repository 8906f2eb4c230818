//! An executor for one future: its thread sleeps until another thread resolves the promise.
//!
//! `cargo run -p filch-promise --example block_on`

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread that has parked. A real executor would make a task runnable here.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls the future, and sleeps in between.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        // A wake-up between the poll and this line has left a token, and `park` returns at once.
        thread::park();
    }
}

fn main() {
    let (resolver, promised) = filch_promise::promise();
    let worker = thread::spawn(move || {
        let sum: u64 = (1..=1_000_000).sum();
        // A promise says nothing of a giver that fails: send a `Result` where it may.
        resolver.resolve(Ok::<_, String>(sum));
    });
    let answer = block_on(async { promised.await.map(|sum| sum / 1_000_000) });
    assert_eq!(answer, Ok(500_000));
    worker.join().expect("the worker does not panic");
    println!("the sum, in millions: {answer:?}");
}
