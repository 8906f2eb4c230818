//! The waiter of a life, on one thread.

use std::sync::Arc;
use std::task::Waker;

use super::{Left, LifeCell, Waiter};
use crate::Outcome;
use crate::tests::Any;

/// The waiter's box belongs to the thread that takes it out of the word: the one that gives up
/// waiting, or the one that ends the process. A failure: it is freed twice, or never.
#[test]
fn a_waiter_is_freed_once() {
    let cell = LifeCell::<Any>::new();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let call = Box::new(move |_| drop(held));
    let waits = cell.await_end(Left::boxed(Waiter::Call(call)));
    assert!(cell.take_back(&mut waits.ok().unwrap()).is_some());
    assert_eq!(Arc::strong_count(&alive), 1);

    let waits = cell.await_end(Left::boxed(Waiter::Future(Waker::noop().clone())));
    let mut waiting = waits.ok().unwrap();
    // SAFETY: one thread ends the process, once.
    unsafe { cell.set(|| Ok(Outcome::Output(()))) };
    assert!(
        cell.take_back(&mut waiting).is_none(),
        "the end has taken it"
    );
    assert!(cell.is_set());
}
