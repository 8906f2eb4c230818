//! The two owners of a value in one thread: the first gets the value, or the second drops it.

use std::rc::Rc;

use filch_promise::{TakeOnce, take_once, take_once_with};

#[test]
fn the_first_that_takes_it_has_it() {
    let (one, other) = take_once(7);
    assert!(!other.is_taken());
    assert_eq!(one.take(), Some(7));
    assert!(other.is_taken());
    assert_eq!(other.take(), None);
}

#[test]
fn what_one_leaves_is_the_others() {
    let (one, other) = take_once(7);
    drop(one);
    assert!(!other.is_taken());
    assert_eq!(other.take(), Some(7));
}

#[test]
fn what_both_leave_is_dropped_and_what_they_share_with_the_second() {
    let values = [0, 1].map(Rc::new);
    let counts = || values.each_ref().map(Rc::strong_count);
    let both = || {
        let [value, shared] = &values;
        take_once_with(Rc::clone(value), Rc::clone(shared))
    };
    let (one, other) = both();
    drop(one);
    assert_eq!(counts(), [2, 2]);
    drop(other);
    assert_eq!(counts(), [1, 1]);

    let (one, other) = both();
    let taken = one.take();
    assert_eq!(counts(), [2, 2]);
    assert_eq!(**other.shared(), 1);
    drop(other);
    assert_eq!(counts(), [2, 1]);
    drop(taken);
    assert_eq!(counts(), [1, 1]);
}

#[test]
fn an_owner_is_the_same_again_by_its_address() {
    let (one, other) = take_once_with(7, "shared");
    let address = one.into_raw();
    // SAFETY: it is that of an owner of this type, and used once.
    let one: TakeOnce<i32, &str> = unsafe { TakeOnce::from_raw(address) };
    assert_eq!(*one.shared(), "shared");
    assert_eq!((one.take(), other.take()), (Some(7), None));
}
