//! The data cell with panicking destructors.

use std::sync::Arc;

use filch_data_cell::{Access, DataCell, LockSet};
use hostile_tests::{Bomb, Squad, explosion_of, held};

#[test]
fn a_value_panics_where_its_cell_is_dropped() {
    let squad = Squad::new([0]);
    let before = held();
    let cell = Box::new(DataCell::new(squad.bomb(0)));
    assert_eq!(explosion_of(|| drop(cell)), Some(0));
    squad.assert_dropped(1);
    assert_eq!(held(), before, "memory is left behind");
}

#[test]
fn a_value_that_is_overwritten_poisons_its_cell() {
    let squad = Squad::new([0]);
    let cell = DataCell::new(squad.bomb(0));
    let overwrite = || {
        let _ = cell.try_write(|value| *value = squad.bomb(1));
    };
    assert_eq!(explosion_of(overwrite), Some(0));
    assert!(cell.is_poisoned());
    assert_eq!(cell.try_end().map(|bomb| bomb.number()), Ok(1));
    squad.assert_dropped(2);
}

#[test]
fn a_value_that_was_taken_does_not_panic_in_its_cell() {
    let squad = Squad::new([0]);
    let cell = DataCell::new(squad.bomb(0));
    let taken = cell.try_end();
    assert_eq!(explosion_of(|| drop(cell)), None);
    assert_eq!(explosion_of(|| drop(taken)), Some(0));
    squad.assert_dropped(1);
}

/// A set that holds the last references to its cells drops them all.
#[test]
fn a_set_drops_the_rest() {
    let squad = Squad::new([0]);
    let before = held();
    let cells = [0, 1].map(|number| Arc::new(DataCell::new(squad.bomb(number))));
    let [first, second] = &cells;
    let set = LockSet::new([
        (first.clone() as _, Access::Write),
        (second.clone() as _, Access::Read),
    ]);
    assert_eq!(first.try_read(Bomb::number), Ok(0));
    assert_eq!(second.try_read(Bomb::number), Ok(1));
    drop(cells);
    assert_eq!(explosion_of(|| drop(set)), Some(0));
    squad.assert_dropped(2);
    assert_eq!(held(), before, "memory is left behind");
}
