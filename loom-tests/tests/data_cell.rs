//! Models of the data cell and of sets of them. loom reports data that two threads touch at once as
//! a race; no thread here waits, so each model says who gets what.
#![cfg(loom)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc as StdArc;

use filch_data_cell::{Access, DataCell, DataLock, LockError, LockSet, Lockable, Mask};
use filch_sync::thread::{self, JoinHandle};
use filch_sync::{Arc, cell::UnsafeCell};
use loom_tests::{Bound, Outcomes};

use Access::{Read, Write};
use LockError::{Ended, Held, Poisoned};

/// Does something with the cell on a thread of its own.
fn beside<T: Send + Sync + 'static, R: 'static>(
    cell: &Arc<DataCell<T>>,
    does: impl FnOnce(&DataCell<T>) -> R + 'static,
) -> JoinHandle<R> {
    let cell = Arc::clone(cell);
    thread::spawn(move || does(&cell))
}

fn read(cell: &DataCell<u32>) -> Result<u32, LockError> {
    cell.try_read(|value| *value)
}

/// What the cell holds at the end, when nobody has it.
fn at_the_end(cell: &DataCell<u32>) -> u32 {
    cell.try_end().expect("left locked")
}

/// Two threads: one writes 7, the other one reads. They come one after the other, or one of them
/// refuses the other. Failure: both are refused, or a race.
#[test]
fn a_writer_beside_a_reader() {
    Outcomes::of("a writer races a reader", Bound::exhaustive(25), || {
        let cell = Arc::new(DataCell::new(0));
        let writer = beside(&cell, |cell| cell.try_write(|value| *value = 7));
        let seen = read(&cell);
        let written = writer.join().unwrap();
        assert_eq!(at_the_end(&cell) == 7, written.is_ok());
        (written, seen)
    })
    .assert_exactly([
        (Ok(()), Ok(0)),
        (Ok(()), Ok(7)),
        (Ok(()), Err(Held)),
        (Err(Held), Ok(0)),
    ]);
}

/// Two threads that add one each. Either adds to what the other one left, or is refused by it.
/// Failure: an addition lost, both refused, or a race.
#[test]
fn two_writers() {
    Outcomes::of("two writers", Bound::exhaustive(10), || {
        let cell = Arc::new(DataCell::new(0));
        let add = |cell: &DataCell<u32>| cell.try_write(|value| *value += 1).is_ok();
        let other = beside(&cell, add);
        let mine = add(&cell);
        let others = other.join().unwrap();
        assert_eq!(at_the_end(&cell), u32::from(mine) + u32::from(others));
        (mine, others)
    })
    .assert_exactly([(true, true), (true, false), (false, true)]);
}

/// Three threads: two readers, and one that writes. A reader is never refused by a reader, whatever
/// the other one does meanwhile; the writer comes when both are gone, whoever went last. Failure: a
/// reader refused though the writer was refused too, or a race of the writer with the reader that
/// went first.
#[test]
fn readers_share() {
    Outcomes::of("two readers, one writer", Bound::exhaustive(35_000), || {
        let cell = Arc::new(DataCell::new(0));
        let readers = [0; 2].map(|_| beside(&cell, read));
        let written = cell.try_write(|value| *value = 7).is_ok();
        let mut seen = readers.map(|reader| reader.join().unwrap());
        seen.sort_unstable();
        if !written {
            assert_eq!(seen, [Ok(0), Ok(0)], "refused by nobody");
        }
        (written, seen)
    })
    .assert_exactly([
        (false, [Ok(0), Ok(0)]),
        (true, [Ok(0), Ok(0)]),
        (true, [Ok(0), Ok(7)]),
        (true, [Ok(0), Err(Held)]),
        (true, [Ok(7), Ok(7)]),
        (true, [Ok(7), Err(Held)]),
        (true, [Err(Held), Err(Held)]),
    ]);
}

/// Two threads: one reads, the other one takes the value. The value is a loom `Arc`, so that loom
/// reports one that is dropped twice or not at all. Failure: a race, a leak, or both refused.
#[test]
fn a_reader_beside_the_end() {
    Outcomes::of("a reader races the end", Bound::exhaustive(25), || {
        let cell = Arc::new(DataCell::new(Arc::new(7)));
        let reader = beside(&cell, |cell| cell.try_read(|value| **value));
        let taken = cell.try_end().map(|value| *value);
        let seen = reader.join().unwrap();
        assert_eq!(cell.is_ended(), taken.is_ok());
        (taken, seen)
    })
    .assert_exactly([
        (Ok(7), Ok(7)),
        (Ok(7), Err(Held)),
        (Ok(7), Err(Ended)),
        (Err(Held), Ok(7)),
    ]);
}

/// Three threads: one writes, one reads, one takes the value and changes it. What is taken is what
/// the last writer left, and nobody looks at it any more. Failure: a race, or a value that was
/// written by nobody.
#[test]
fn the_end_sees_all_before() {
    Outcomes::of(
        "a writer and a reader race the end",
        Bound::exhaustive(4_700),
        || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, |cell| cell.try_write(|value| *value = 7).is_ok());
            let reader = beside(&cell, |cell| read(cell).is_ok());
            let taken = cell.try_end();
            let [written, seen] = [writer, reader].map(|thread| thread.join().unwrap());
            match taken {
                Ok(value) => assert!(value == 0 || written, "written by nobody"),
                Err(_) => assert!(written || seen, "refused by nobody"),
            }
            (taken, written, seen)
        },
    )
    .assert_exactly([
        (Ok(0), false, false),
        (Ok(0), false, true),
        (Ok(7), true, false),
        (Ok(7), true, true),
        (Err(Held), false, true),
        (Err(Held), true, false),
        (Err(Held), true, true),
    ]);
}

/// Two threads take the value. One gets it. Failure: both, or none.
#[test]
fn one_of_two_ends() {
    Outcomes::of("two ends", Bound::exhaustive(10), || {
        let cell = Arc::new(DataCell::new(Arc::new(7)));
        let other = beside(&cell, |cell| cell.try_end().map(|value| *value));
        let mine = cell.try_end().map(|value| *value);
        (mine, other.join().unwrap())
    })
    .assert_exactly([
        (Ok(7), Err(Held)),
        (Ok(7), Err(Ended)),
        (Err(Held), Ok(7)),
        (Err(Ended), Ok(7)),
    ]);
}

/// Writes 7 and panics, if it is let in; whether it was.
fn write_and_panic(cell: &DataCell<u32>) -> bool {
    catch_unwind(AssertUnwindSafe(|| {
        cell.try_write(|value| {
            *value = 7;
            // As a panic, without its message.
            resume_unwind(Box::new("half changed"));
        })
    }))
    .is_err()
}

/// Two threads: a writer panics; the other one reads. If that finds poison, it clears it and reads
/// what the writer left. Failure: half changed data without poison, a race, or data older than the
/// poison.
#[test]
fn poison_comes_with_the_data() {
    Outcomes::of("a panic races a reader", Bound::exhaustive(25), || {
        let cell = Arc::new(DataCell::new(0));
        let writer = beside(&cell, write_and_panic);
        let seen = read(&cell);
        if seen == Err(Poisoned) {
            assert!(cell.is_poisoned() && cell.clear_poison());
            assert_eq!(read(&cell), Ok(7), "older than the poison");
        }
        let written = writer.join().unwrap();
        (written, seen)
    })
    .assert_exactly([
        (false, Ok(0)),
        (true, Ok(0)),
        (true, Err(Held)),
        (true, Err(Poisoned)),
    ]);
}

/// Three threads: a writer panics, one thread clears poison, one writes. A writer that is let in
/// behind the poison sees the data. Failure: a race of the two writers, whom the thread that clears
/// stands between.
#[test]
fn poison_that_a_third_has_cleared() {
    Outcomes::of(
        "a panic, its clearing and a writer",
        Bound::exhaustive(1_100),
        || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, write_and_panic);
            let clearer = beside(&cell, DataCell::clear_poison);
            let found = cell.try_write(|value| std::mem::replace(value, 1));
            let written = writer.join().unwrap();
            let cleared = clearer.join().unwrap();
            assert_eq!(cell.is_poisoned(), written && !cleared);
            (found, written, cleared)
        },
    )
    .assert_exactly([
        (Ok(0), false, false),
        (Ok(0), true, false),
        (Ok(0), true, true),
        (Ok(7), true, true),
        (Err(Held), true, false),
        (Err(Held), true, true),
        (Err(Poisoned), true, false),
        (Err(Poisoned), true, true),
    ]);
}

/// Three threads: a writer panics, one clears poison, and the owner takes the value, be the cell
/// poisoned or not. Failure: a race; `Poisoned`, which an owner is never told; or the owner refused
/// while nobody has the cell.
#[test]
fn an_end_of_what_is_poisoned() {
    Outcomes::of(
        "a panic and its clearing race the end",
        Bound::exhaustive(1_100),
        || {
            let cell = Arc::new(DataCell::new(0));
            let writer = beside(&cell, write_and_panic);
            let clearer = beside(&cell, DataCell::clear_poison);
            let taken = cell.try_end();
            let written = writer.join().unwrap();
            assert!(written || taken == Ok(0), "refused by nobody");
            (taken, clearer.join().unwrap())
        },
    )
    .assert_exactly([
        (Ok(0), false),
        (Ok(7), false),
        (Ok(7), true),
        (Err(Held), false),
        (Err(Held), true),
    ]);
}

/// Three numbers in one allocation, so that the order of their locks is the same in each execution.
struct Table {
    places: [Place; 3],
}

struct Place {
    lock: DataLock,
    value: UnsafeCell<u32>,
}

// SAFETY: a value is touched under its lock; that is what the models are about.
unsafe impl Sync for Place {}

/// One of the three.
struct At(StdArc<Table>, usize);

// SAFETY: the lock lies in the table, which does not move; the name keeps it.
unsafe impl Lockable for At {
    fn lock(&self) -> &DataLock {
        &self.0.places[self.1].lock
    }
}

impl Table {
    fn new() -> StdArc<Self> {
        StdArc::new(Self {
            places: [0; 3].map(|value| Place {
                lock: DataLock::new(),
                value: UnsafeCell::new(value),
            }),
        })
    }

    /// A set of these places, in this order.
    fn set(self: &StdArc<Self>, places: &[(usize, Access)]) -> LockSet {
        LockSet::new(
            places
                .iter()
                .map(|&(place, access)| (StdArc::new(At(StdArc::clone(self), place)) as _, access)),
        )
        .unwrap()
    }

    /// Adds one at all places that are to be written, if all are to be had, and sums the others up.
    fn task(self: &StdArc<Self>, places: &[(usize, Access)]) -> Option<u32> {
        let set = self.set(places);
        let locked = set.try_lock(Mask::NONE).ok()?;
        let mut sum = 0;
        for &(place, access) in places {
            let value = &self.places[place].value;
            // SAFETY: `locked` holds the lock of each place with its access.
            match access {
                Read => sum += value.with(|value| unsafe { *value }),
                // SAFETY: as above.
                Write => value.with_mut(|value| unsafe { *value += 1 }),
            }
        }
        drop(locked);
        Some(sum)
    }

    /// All tasks, each on a thread but the first; what each found, if it got all.
    fn race<const N: usize>(
        self: &StdArc<Self>,
        tasks: [&'static [(usize, Access)]; N],
    ) -> [Option<u32>; N] {
        let others: Vec<_> = tasks[1..]
            .iter()
            .map(|&places| {
                let table = StdArc::clone(self);
                thread::spawn(move || table.task(places))
            })
            .collect();
        let mut found = vec![self.task(tasks[0])];
        found.extend(others.into_iter().map(|other| other.join().unwrap()));
        for place in &self.places {
            assert_eq!(place.lock.try_lock(Write), Ok(()), "left locked");
        }
        found.try_into().unwrap()
    }
}

/// Two threads. Each wants two cells to write, and names them in the other's reverse order. One of
/// them gets both, whatever the other one does. Failure: neither does; a race; a lock that is left.
#[test]
fn sets_in_crossing_order() {
    Outcomes::of("two sets that cross", Bound::exhaustive(10), || {
        let found = Table::new().race([&[(0, Write), (1, Write)], &[(1, Write), (0, Write)]]);
        found.map(|sum| sum.is_some())
    })
    .assert_exactly([[true, true], [true, false], [false, true]]);
}

/// Two threads. One writes two cells, the other one reads both. It sees both changes, or none.
/// Failure: a sum of one, or a race.
#[test]
fn a_set_is_seen_as_a_whole() {
    Outcomes::of(
        "a set written beside one read",
        Bound::exhaustive(25),
        || Table::new().race([&[(0, Write), (1, Write)], &[(1, Read), (0, Read)]]),
    )
    .assert_exactly([
        [Some(0), Some(0)],
        [Some(0), Some(2)],
        [Some(0), None],
        [None, Some(0)],
    ]);
}

/// Two threads. Each reads what the other one writes. Failure: neither goes on, or a race.
#[test]
fn each_reads_what_the_other_writes() {
    Outcomes::of(
        "two sets, each a reader of the other's",
        Bound::exhaustive(25),
        || Table::new().race([&[(0, Write), (1, Read)], &[(1, Write), (0, Read)]]),
    )
    .assert_exactly([
        [Some(0), Some(1)],
        [Some(1), Some(0)],
        [Some(0), None],
        [None, Some(0)],
    ]);
}

/// Three threads around a table, each with two of three cells: each of them is refused by its
/// neighbour, were it not for the order. At least one gets both, and any two that are refused are
/// refused by the third. Failure: none gets both; a race; a lock that is left.
#[test]
fn three_around_a_table() {
    let outcomes = Outcomes::of("three sets in a ring", Bound::exhaustive(700), || {
        let found = Table::new().race([
            &[(0, Write), (1, Write)],
            &[(1, Write), (2, Write)],
            &[(2, Write), (0, Write)],
        ]);
        found.map(|sum| sum.is_some())
    });
    outcomes.assert_exactly((1..8).map(|bits| [0, 1, 2].map(|place| bits >> place & 1 == 1)));
}

/// Two threads: a task that writes one cell and reads another one panics; the other thread's task
/// wants both. It is refused by the poison of the first, and the second is free. By the order it
/// is never refused at the second. Failure: half changed data without poison, a race, or poison
/// where nobody wrote.
#[test]
fn a_set_is_poisoned_where_it_wrote() {
    Outcomes::of(
        "a set that poisons beside another",
        Bound::exhaustive(25),
        || {
            let table = Table::new();
            let poisons = table.set(&[(1, Read), (0, Write)]);
            let other = thread::spawn({
                let table = StdArc::clone(&table);
                move || {
                    table
                        .set(&[(0, Read), (1, Write)])
                        .try_lock(Mask::NONE)
                        .err()
                }
            });
            let has_poisoned = poisons.try_lock(Mask::NONE).map(|locked| {
                // SAFETY: `locked` holds this lock to write.
                table.places[0]
                    .value
                    .with_mut(|value| unsafe { *value = 7 });
                locked.poison();
            });
            let refused = other.join().unwrap();
            let [first, second, _] = &table.places;
            assert_eq!(first.lock.is_poisoned(), has_poisoned.is_ok());
            assert_eq!(second.lock.try_lock(Write), Ok(()), "left locked");
            (
                has_poisoned.is_ok(),
                refused.map(|refused| (refused.position, refused.why)),
            )
        },
    )
    .assert_exactly([
        (true, None),
        (true, Some((0, Held))),
        (true, Some((0, Poisoned))),
        (false, None),
    ]);
}
