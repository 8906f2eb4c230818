//! The waiter of a life, on one thread.

use std::sync::Arc;

use filch_parker::Parker;

use super::LifeCell;
use crate::Outcome;
use crate::table::waiter::{Left, Waiter};
use crate::tests::Any;

/// The waiter's box belongs to the thread that takes it out of the word: the one that gives up
/// waiting, or the one that ends the process. A failure: it is freed twice, or never.
#[test]
fn a_waiter_is_freed_once() {
    let cell = LifeCell::<Any>::new();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let call = Box::new(move |_| drop(held));
    let waiter = cell.await_end(Left::boxed(Waiter::Call(call)));
    assert!(cell.withdraw(waiter.ok().unwrap()).is_some());
    assert_eq!(Arc::strong_count(&alive), 1);

    let waits = cell.await_end(Left::boxed(Waiter::Thread(Parker::new().unparker())));
    let waiter = waits.ok().unwrap();
    // SAFETY: one thread ends the process, once.
    unsafe { cell.set(|| Ok(Outcome::Output(()))) };
    assert!(cell.withdraw(waiter).is_none(), "the end has taken it");
    assert!(cell.is_set());
}
