//! What a supervisor answers, when it comes to it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use filch_promise::{Promised, Resolver, promise};
use filch_sync::panic::catch_panic;

use crate::error::Gone;

/// What a supervisor answers: await it in a process, or [wait](Self::wait) for it in a thread.
///
/// What was asked for happens whether or not the answer is awaited.
#[must_use = "what was asked for may be refused"]
pub struct Answer<T, E>(Promised<Result<T, E>>);

/// The supervisor's end of an answer. If it is dropped without one, the supervisor has ended.
pub(crate) struct Reply<T, E: From<Gone>>(Option<Resolver<Result<T, E>>>);

/// The two ends of an answer.
pub(crate) fn answer<T, E: From<Gone>>() -> (Reply<T, E>, Answer<T, E>) {
    let (resolver, promised) = promise();
    (Reply(Some(resolver)), Answer(promised))
}

impl<T, E> Answer<T, E> {
    /// Waits for it. Blocking: not for processes, which would hold up the worker that the
    /// supervisor may need.
    ///
    /// # Errors
    /// What the call that asked for it says.
    pub fn wait(mut self) -> Result<T, E> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(answer) = Pin::new(&mut self).poll(&mut context) {
                return answer;
            }
            thread::park();
        }
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<T, E> Future for Answer<T, E> {
    type Output = Result<T, E>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T, E: From<Gone>> Reply<T, E> {
    /// Gives the answer. A panic of the waker ends here.
    pub(crate) fn tell(mut self, answer: Result<T, E>) {
        self.resolve(answer);
    }

    fn resolve(&mut self, answer: Result<T, E>) {
        if let Some(resolver) = self.0.take() {
            // The promise has its value before it wakes. The message of the panic is lost.
            let _ = catch_panic(|| resolver.resolve(answer));
        }
    }
}

impl<T, E: From<Gone>> Drop for Reply<T, E> {
    fn drop(&mut self) {
        self.resolve(Err(Gone.into()));
    }
}

impl<T, E> fmt::Debug for Answer<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("ready", &self.0.is_resolved())
            .finish_non_exhaustive()
    }
}
