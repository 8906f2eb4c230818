//! The waiter of a life, on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::LifeCell;
use crate::Outcome;
use crate::tests::Any;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // ORDERING: Relaxed: one thread.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The waiter's box belongs to the thread that takes it out of the word: the one that gives up
/// waiting, or the one that ends the process. A failure: it is freed twice, or never.
#[test]
fn a_waiter_is_freed_once() {
    let cell = LifeCell::<Any>::new();
    let wakers = [(); 3].map(|()| Arc::new(Woken::default()));
    let poll = |waker: &Arc<Woken>| {
        // SAFETY: one thread has the handle, and takes the exit once.
        unsafe { cell.poll(&Waker::from(Arc::clone(waker)), false) }
    };
    let clones = || wakers.each_ref().map(Arc::strong_count);
    assert!(poll(&wakers[0]).is_pending());
    assert_eq!(clones(), [2, 1, 1]);
    cell.forget();
    assert_eq!(clones(), [1, 1, 1]);
    assert!(poll(&wakers[1]).is_pending());
    assert!(poll(&wakers[2]).is_pending());
    assert_eq!(clones(), [1, 1, 2]);
    // SAFETY: one thread ends the process, once.
    unsafe { cell.set(|| Ok(Outcome::Output(()))) };
    assert!(cell.is_set());
    cell.forget();
    assert_eq!(clones(), [1, 1, 1], "the end has taken it");
    // ORDERING: Relaxed: one thread.
    let woken = wakers
        .each_ref()
        .map(|waker| waker.0.load(Ordering::Relaxed));
    assert_eq!(woken, [0, 0, 1]);
    assert!(poll(&wakers[0]).is_ready());
}

/// A call that was left is made by the end, or at once after it. A failure: it is called twice, or
/// never; or a call that stays with the cell.
#[test]
fn a_call_is_made_once() {
    for ends_first in [true, false] {
        let cell = LifeCell::<Any>::new();
        let called = Arc::new(AtomicUsize::new(0));
        let held = Arc::clone(&called);
        // ORDERING: Relaxed: one thread.
        let call = Box::new(move |_| _ = held.fetch_add(1, Ordering::Relaxed));
        // SAFETY: one thread ends the process, once.
        let end = || unsafe { cell.set(|| Ok(Outcome::Output(()))) };
        if ends_first {
            end();
        }
        // SAFETY: one thread has the handle, and gives it up.
        unsafe { cell.leave(Some(call)) };
        if !ends_first {
            end();
        }
        assert_eq!(Arc::strong_count(&called), 1);
        // ORDERING: Relaxed: one thread.
        assert_eq!(called.load(Ordering::Relaxed), 1);
    }
}
