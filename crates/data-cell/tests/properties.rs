//! Sets of cells beside a model, on one thread.
//!
//! The model has the readers of each cell, its writer, its poison and its end in plain fields. For
//! any cells, sets and steps:
//! 1. a set is refused for the same cells as by the model, for the model's reason;
//! 2. a refused set leaves everything as it was;
//! 3. what is unlocked or poisoned is what was locked, and nothing else;
//! 4. in the end each cell holds its value once, or has given it away.

use std::collections::BTreeMap;
use std::sync::Arc;

use filch_data_cell::{Access, Conflict, DataCell, LockError, LockSet, Locked};
use proptest::prelude::*;

const CELLS: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cell {
    #[default]
    Free,
    Readers(usize),
    Writer,
    Poisoned,
    Ended,
}

impl Cell {
    fn lock(self, access: Access) -> Result<Self, LockError> {
        match (self, access) {
            (Self::Free, Access::Read) => Ok(Self::Readers(1)),
            (Self::Readers(readers), Access::Read) => Ok(Self::Readers(readers + 1)),
            (Self::Free, Access::Write) => Ok(Self::Writer),
            (Self::Readers(_), Access::Write) | (Self::Writer, _) => Err(LockError::Held),
            (Self::Poisoned, _) => Err(LockError::Poisoned),
            (Self::Ended, _) => Err(LockError::Ended),
        }
    }

    fn unlock(self, poisons: bool) -> Self {
        match self {
            Self::Readers(1) => Self::Free,
            Self::Readers(readers) => Self::Readers(readers - 1),
            Self::Writer if poisons => Self::Poisoned,
            Self::Writer => Self::Free,
            Self::Free | Self::Poisoned | Self::Ended => unreachable!("nobody holds it"),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Locks a set.
    Lock(usize),
    /// Unlocks the set with this place among those that are locked.
    Unlock(usize),
    /// Poisons that set instead.
    Poison(usize),
    Clear(usize),
    End(usize),
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![Just(Access::Read), Just(Access::Write)]
}

fn sets() -> impl Strategy<Value = Vec<Vec<(usize, Access)>>> {
    let set = prop::collection::vec((0..CELLS, access()), 0..4);
    prop::collection::vec(set, 1..6)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => any::<usize>().prop_map(Step::Lock),
        4 => any::<usize>().prop_map(Step::Unlock),
        1 => any::<usize>().prop_map(Step::Poison),
        2 => (0..CELLS).prop_map(Step::Clear),
        1 => (0..CELLS).prop_map(Step::End),
    ];
    prop::collection::vec(step, 0..60)
}

/// Returns the first conflict of a set, by the model.
fn conflict(wanted: &[(usize, Access)]) -> Option<(usize, usize)> {
    (0..wanted.len()).find_map(|second| {
        let same = |first: &usize| wanted[*first].0 == wanted[second].0;
        let first = (0..second).find(same)?;
        let both_read = wanted[first].1 == Access::Read && wanted[second].1 == Access::Read;
        (!both_read).then_some((first, second))
    })
}

proptest! {
    #[test]
    fn sets_are_as_the_model(wanted in sets(), steps in steps()) {
        let values: Vec<_> = (0..CELLS).map(|_| Arc::new(())).collect();
        let cells: Vec<_> = values
            .iter()
            .map(|value| Arc::new(DataCell::new(Arc::clone(value))))
            .collect();
        let mut model = [Cell::default(); CELLS];

        let mut sets = Vec::new();
        for wanted in wanted {
            let set = LockSet::new(
                wanted.iter().map(|&(cell, access)| (cells[cell].clone() as _, access)),
            );
            match conflict(&wanted) {
                Some((first, second)) => prop_assert_eq!(
                    set.unwrap_err(),
                    Conflict { first, second }
                ),
                None => sets.push((set.unwrap(), wanted)),
            }
        }
        let mut held = Vec::<(Locked<'_>, BTreeMap<usize, Access>)>::new();
        for step in steps {
            match step {
                Step::Lock(set) if !sets.is_empty() => {
                    let (set, wanted) = &sets[set % sets.len()];
                    let needs: BTreeMap<_, _> = wanted.iter().copied().collect();
                    let mut after = model;
                    let mut refusals = BTreeMap::new();
                    for (&cell, &access) in &needs {
                        match model[cell].lock(access) {
                            Ok(locked) => after[cell] = locked,
                            Err(why) => drop(refusals.insert(cell, why)),
                        }
                    }
                    match set.try_lock() {
                        Ok(locked) => {
                            prop_assert!(refusals.is_empty());
                            model = after;
                            held.push((locked, needs));
                        }
                        Err(refused) => {
                            let (cell, _) = wanted[refused.position];
                            prop_assert_eq!(refusals.get(&cell), Some(&refused.why));
                            let first = wanted.iter().position(|(other, _)| *other == cell);
                            prop_assert_eq!(first, Some(refused.position));
                        }
                    }
                }
                Step::Unlock(which) | Step::Poison(which) if !held.is_empty() => {
                    let poisons = matches!(step, Step::Poison(_));
                    let (locked, needs) = held.swap_remove(which % held.len());
                    for cell in needs.into_keys() {
                        model[cell] = model[cell].unlock(poisons);
                    }
                    if poisons {
                        locked.poison();
                    }
                }
                Step::Lock(_) | Step::Unlock(_) | Step::Poison(_) => {}
                Step::Clear(cell) => {
                    let was_poisoned = model[cell] == Cell::Poisoned;
                    prop_assert_eq!(cells[cell].clear_poison(), was_poisoned);
                    if was_poisoned {
                        model[cell] = Cell::Free;
                    }
                }
                Step::End(cell) => match cells[cell].try_end() {
                    Ok(_) => {
                        prop_assert!(matches!(model[cell], Cell::Free | Cell::Poisoned));
                        model[cell] = Cell::Ended;
                    }
                    Err(LockError::Ended) => prop_assert_eq!(model[cell], Cell::Ended),
                    Err(LockError::Held) => {
                        prop_assert!(matches!(model[cell], Cell::Readers(_) | Cell::Writer));
                    }
                    Err(LockError::Poisoned) => prop_assert!(false, "an owner is never told"),
                },
            }
            for (cell, model) in cells.iter().zip(model) {
                let read = model.lock(Access::Read).err();
                prop_assert_eq!(cell.try_read(|_| ()).err(), read);
                let write = model.lock(Access::Write).err();
                prop_assert_eq!(cell.try_write(|_| ()).err(), write);
                prop_assert_eq!(cell.is_poisoned(), model == Cell::Poisoned);
                prop_assert_eq!(cell.is_ended(), model == Cell::Ended);
            }
        }
        for (value, model) in values.iter().zip(model) {
            let in_its_cell = usize::from(model != Cell::Ended);
            prop_assert_eq!(Arc::strong_count(value), 1 + in_its_cell);
        }
        drop(held);
        drop((sets, cells));
        for value in &values {
            prop_assert_eq!(Arc::strong_count(value), 1);
        }
    }
}
