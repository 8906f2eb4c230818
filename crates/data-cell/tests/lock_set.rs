//! Sets of cells: making, locking and unlocking them.

use std::sync::Arc;
use std::thread;

use filch_data_cell::{
    Access, Conflict, DataCell, DataLock, LockError, LockSet, Lockable, Locked, Refused,
};

use Access::{Read, Write};
use LockError::{Ended, Held, Poisoned};

type Cells = Vec<Arc<DataCell<u64>>>;

fn cells(number: u64) -> Cells {
    (0..number)
        .map(|value| Arc::new(DataCell::new(value)))
        .collect()
}

fn set_of(cells: &Cells, wanted: &[(usize, Access)]) -> Result<LockSet, Conflict> {
    let wanted = wanted.iter();
    LockSet::new(wanted.map(|&(cell, access)| (cells[cell].clone() as _, access)))
}

/// Returns the error that a reader and a writer of each cell get.
fn refusals(cells: &Cells) -> Vec<[Option<LockError>; 2]> {
    let each = cells.iter();
    each.map(|cell| [cell.try_read(|_| ()).err(), cell.try_write(|_| ()).err()])
        .collect()
}

const FREE: [Option<LockError>; 2] = [None, None];
const READ: [Option<LockError>; 2] = [None, Some(Held)];
const WRITTEN: [Option<LockError>; 2] = [Some(Held); 2];
const POISONED: [Option<LockError>; 2] = [Some(Poisoned); 2];

#[test]
fn a_set_locks_each_as_it_is_wanted() {
    let cells = cells(4);
    let set = set_of(&cells, &[(2, Write), (0, Read), (1, Read)]).unwrap();
    assert!(set.len() == 3 && !set.is_empty());
    let locked = set.try_lock().unwrap();
    assert_eq!(refusals(&cells), [READ, READ, WRITTEN, FREE]);
    drop(locked);
    assert_eq!(refusals(&cells), [FREE; 4]);
}

#[test]
fn a_cell_twice_is_refused_unless_both_read() {
    let cells = cells(2);
    let conflict = |wanted: &[_]| set_of(&cells, wanted).map(|_| ()).unwrap_err();
    for (first, second) in [(Write, Write), (Read, Write), (Write, Read)] {
        assert_eq!(
            conflict(&[(1, Write), (0, first), (0, second)]),
            Conflict {
                first: 1,
                second: 2
            }
        );
    }
    assert_eq!(
        conflict(&[(0, Read), (0, Read), (0, Write)]),
        Conflict {
            first: 0,
            second: 2
        },
        "the first of all"
    );
    let set = set_of(&cells, &[(0, Read), (1, Write), (0, Read)]).unwrap();
    assert_eq!(set.len(), 2);
    let locked = set.try_lock().unwrap();
    drop(locked);
    assert_eq!(refusals(&cells), [FREE; 2], "unlocked as often as locked");
}

#[test]
fn a_set_of_nothing_is_always_locked() {
    let set = set_of(&Vec::new(), &[]).unwrap();
    assert!(set.is_empty());
    assert!(set.try_lock().is_ok());
}

#[test]
fn a_refusal_names_the_cell_and_leaves_nothing_locked() {
    let cells = cells(3);
    let set = set_of(&cells, &[(0, Write), (1, Read), (2, Write)]).unwrap();
    for (position, cell) in cells.iter().enumerate() {
        cell.try_write(|_| {
            let refused = set.try_lock().unwrap_err();
            assert_eq!(
                refused,
                Refused {
                    position,
                    why: Held,
                    is_awaited: false,
                }
            );
        })
        .unwrap();
        assert_eq!(refusals(&cells), [FREE; 3]);
    }
    cells[1].try_end().unwrap();
    let refused = set.try_lock().unwrap_err();
    assert_eq!(
        refused,
        Refused {
            position: 1,
            why: Ended,
            is_awaited: false,
        }
    );
    assert_eq!(refused.to_string(), format!("cell 1: {Ended}"));
}

#[test]
fn a_task_within_a_task_reads_what_the_outer_one_reads() {
    let cells = cells(2);
    let outer = set_of(&cells, &[(1, Read)]).unwrap();
    let inner = set_of(&cells, &[(1, Read), (0, Write)]).unwrap();
    let held = outer.try_lock().unwrap();
    inner.try_lock().unwrap().poison();
    assert_eq!(refusals(&cells), [POISONED, READ]);
    drop(held);
    assert_eq!(refusals(&cells), [POISONED, FREE]);
}

#[test]
fn poison_is_where_it_wrote() {
    let cells = cells(3);
    let set = set_of(&cells, &[(0, Write), (1, Read), (2, Write)]).unwrap();
    set.try_lock().unwrap().poison();
    assert_eq!(refusals(&cells), [POISONED, FREE, POISONED]);
    let refused = set.try_lock().unwrap_err();
    assert_eq!(refused.why, Poisoned);
    assert_eq!(cells.iter().filter(|cell| cell.clear_poison()).count(), 2);
    assert!(set.try_lock().is_ok());
}

/// A thread that leaves a set is told of those that wait for any of its cells, once.
#[test]
fn who_leaves_a_set_is_told_of_waiters() {
    let cells = cells(2);
    let set = set_of(&cells, &[(0, Write), (1, Read)]).unwrap();
    for leave in [Locked::unlock, Locked::poison] {
        for awaited in [None, Some(0), Some(1)] {
            let held = set.try_lock().unwrap();
            if let Some(cell) = awaited {
                assert!(cells[cell].lock().announce_waiter(Write));
            }
            assert_eq!(leave(held), awaited.is_some(), "{awaited:?}");
            cells[0].clear_poison();
        }
        // The bit is gone from the cell that was read: nobody is told again.
        let held = set_of(&cells, &[(1, Read)]).unwrap();
        assert!(!held.try_lock().unwrap().unlock());
        assert!(!cells[1].lock().announce_waiter(Read), "it is free");
    }
}

#[test]
fn a_set_keeps_its_cells() {
    let cells = cells(1);
    let set = set_of(&cells, &[(0, Write)]).unwrap();
    let cell = Arc::downgrade(&cells[0]);
    drop(cells);
    assert!(set.try_lock().is_ok());
    assert!(cell.upgrade().is_some());
    drop(set);
    assert!(cell.upgrade().is_none());
}

#[test]
fn what_they_say() {
    let cells = cells(2);
    let set = set_of(&cells, &[(0, Read), (1, Write), (0, Read)]).unwrap();
    let text = format!("{set:?}");
    assert!(
        text.contains("0: Read") && text.contains("1: Write"),
        "{text}"
    );
    let text = format!("{:?}", set.try_lock());
    assert!(text == "Ok([Read, Write])" || text == "Ok([Write, Read])");
    let conflict = Conflict {
        first: 3,
        second: 5,
    };
    assert!(!conflict.to_string().is_empty());
}

/// A type of another crate, without a value.
struct Gate(DataLock);

// SAFETY: the lock is a field.
unsafe impl Lockable for Gate {
    fn lock(&self) -> &DataLock {
        &self.0
    }
}

#[test]
fn a_lock_without_a_value() {
    let gate = Arc::new(Gate(DataLock::new()));
    let cell = Arc::new(DataCell::new(1));
    let set = LockSet::new([(gate.clone() as _, Write), (cell.clone() as _, Write)]).unwrap();
    let locked = set.try_lock().unwrap();
    assert_eq!(gate.lock().try_lock(Read), Err(Held));
    drop(locked);
    assert_eq!(gate.lock().try_lock(Read), Ok(()));
}

/// Philosophers: each of four threads moves one from its left cell to its right one, a fixed number
/// of times. The sum stays the same. Nobody sleeps, so the test ends only if the sets let each
/// other go on.
#[test]
fn what_moves_between_cells_is_not_lost() {
    const TIMES: usize = if cfg!(miri) { 20 } else { 2_000 };
    let cells = cells(4);
    let sum = |cells: &Cells| -> u64 {
        let values = cells
            .iter()
            .map(|cell| cell.try_read(|value| *value).unwrap());
        values.fold(0, u64::wrapping_add)
    };
    let before = sum(&cells);
    thread::scope(|scope| {
        for place in 0..4 {
            let (left, right) = (&cells[place], &cells[(place + 1) % 4]);
            let set = LockSet::new([(left.clone() as _, Write), (right.clone() as _, Write)]);
            scope.spawn(move || {
                let set = set.unwrap();
                let mut moves = 0;
                while moves < TIMES {
                    let Ok(locked) = set.try_lock() else {
                        thread::yield_now();
                        continue;
                    };
                    // SAFETY: `locked` holds both to write.
                    unsafe {
                        left.write_ptr(|value| *value = (*value).wrapping_sub(1));
                        right.write_ptr(|value| *value = (*value).wrapping_add(1));
                    }
                    drop(locked);
                    moves += 1;
                }
            });
        }
    });
    assert_eq!(sum(&cells), before);
}
