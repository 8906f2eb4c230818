//! What a cell does in one thread: its value goes once, or with the cell.

use std::rc::Rc;

use filch_promise::TakeCell;

#[test]
fn a_value_is_taken_once() {
    let cell = TakeCell::new(7);
    assert!(!cell.is_taken());
    assert_eq!((cell.take(), cell.take()), (Some(7), None));
    assert!(cell.is_taken());
}

#[test]
fn what_comes_too_late_comes_back() {
    let cell = TakeCell::empty();
    assert_eq!(cell.take(), None);
    // SAFETY: the cell was made empty, and this is the one put.
    assert_eq!(unsafe { cell.put(7) }, Err(7));
    assert_eq!(cell.take(), None);
}

#[test]
fn what_is_filled_in_takes_the_place_of_what_was_there() {
    let values = [0, 1, 2].map(Rc::new);
    let mut cell = TakeCell::empty();
    for value in &values {
        cell.fill(Rc::clone(value));
    }
    let last = cell.take();
    assert_eq!(last.as_deref(), Some(&2));
    cell.fill(Rc::clone(&values[0]));
    assert!(!cell.is_taken());
    drop((cell, last));
    assert_eq!(values.each_ref().map(Rc::strong_count), [1; 3]);
}

#[test]
fn a_value_that_nobody_takes_goes_with_its_cell() {
    let value = Rc::new(7);
    drop(TakeCell::new(Rc::clone(&value)));
    drop(TakeCell::<Rc<i32>>::empty());
    assert_eq!(Rc::strong_count(&value), 1);
}
