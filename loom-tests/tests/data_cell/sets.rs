//! Sets of cells: a task gets all of them or none.

use std::sync::Arc as StdArc;

use filch_data_cell::Access::{Read, Write};
use filch_data_cell::LockError::{Held, Poisoned};
use filch_data_cell::{Access, DataLock, LockSet, Lockable};
use filch_models::Bound;
use filch_sync::cell::UnsafeCell;
use filch_sync::thread;

/// Three numbers in one allocation, so that the order of their locks is the same in each execution.
struct Table {
    places: [Place; 3],
}

struct Place {
    lock: DataLock,
    value: UnsafeCell<u32>,
}

// SAFETY: a value is touched under its lock; the models check that.
unsafe impl Sync for Place {}

/// One of the three.
struct At(StdArc<Table>, usize);

// SAFETY: the lock lies in the table, which does not move; `At` keeps the table.
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

    /// Adds one at all places to be written, and sums up the others, if it gets all of them.
    fn task(self: &StdArc<Self>, places: &[(usize, Access)]) -> Option<u32> {
        let set = self.set(places);
        let locked = set.try_lock().ok()?;
        let mut sum = 0;
        for &(place, access) in places {
            let value = &self.places[place].value;
            match access {
                // SAFETY: `locked` holds the lock of each place with its access.
                Read => sum += value.with(|value| unsafe { *value }),
                // SAFETY: as above.
                Write => value.with_mut(|value| unsafe { *value += 1 }),
            }
        }
        drop(locked);
        Some(sum)
    }

    /// Runs each task on a thread, one of them on this; returns what each that got all found.
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

/// Two threads. Each wants to write two cells, and names them in the other's reverse order. One of
/// them gets both, whatever the other does. Failure: neither does; a race; a lock left locked.
#[test]
fn sets_in_crossing_order() {
    Bound::exhaustive(10)
        .outcomes("two sets that cross", || {
            let found = Table::new().race([&[(0, Write), (1, Write)], &[(1, Write), (0, Write)]]);
            found.map(|sum| sum.is_some())
        })
        .assert_exactly([[true, true], [true, false], [false, true]]);
}

/// Two threads. One writes two cells, the other reads both. It sees both changes, or none. Failure:
/// a sum of one, or a race.
#[test]
fn a_set_is_seen_as_a_whole() {
    Bound::exhaustive(25)
        .outcomes("a set written beside one read", || {
            Table::new().race([&[(0, Write), (1, Write)], &[(1, Read), (0, Read)]])
        })
        .assert_exactly([
            [Some(0), Some(0)],
            [Some(0), Some(2)],
            [Some(0), None],
            [None, Some(0)],
        ]);
}

/// Two threads. Each reads what the other writes. Failure: neither goes on, or a race.
#[test]
fn each_reads_what_the_other_writes() {
    Bound::exhaustive(25)
        .outcomes("two sets, each a reader of the other's", || {
            Table::new().race([&[(0, Write), (1, Read)], &[(1, Write), (0, Read)]])
        })
        .assert_exactly([
            [Some(0), Some(1)],
            [Some(1), Some(0)],
            [Some(0), None],
            [None, Some(0)],
        ]);
}

/// Three threads around a table, each with two of three cells: without the order, each could be
/// refused by its neighbour. At least one gets both, and any two that are refused are refused by
/// the third. Failure: none gets both; a race; a lock left locked.
#[test]
fn three_around_a_table() {
    Bound::exhaustive(700)
        .outcomes("three sets in a ring", || {
            let found = Table::new().race([
                &[(0, Write), (1, Write)],
                &[(1, Write), (2, Write)],
                &[(2, Write), (0, Write)],
            ]);
            found.map(|sum| sum.is_some())
        })
        .assert_exactly((1..8).map(|bits| [0, 1, 2].map(|place| bits >> place & 1 == 1)));
}

/// Two threads: a task that writes one cell and reads another panics; the other thread's task wants
/// both. By the order, it can only be refused at the first: as held or as poisoned. The second is
/// free. Failure: half-changed data without poison, a race, or poison where nobody wrote.
#[test]
fn a_set_is_poisoned_where_it_wrote() {
    Bound::exhaustive(25)
        .outcomes("a set that poisons beside another", || {
            let table = Table::new();
            let poisons = table.set(&[(1, Read), (0, Write)]);
            let other = thread::spawn({
                let table = StdArc::clone(&table);
                move || table.set(&[(0, Read), (1, Write)]).try_lock().err()
            });
            let has_poisoned = poisons.try_lock().map(|locked| {
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
        })
        .assert_exactly([
            (true, None),
            (true, Some((0, Held))),
            (true, Some((0, Poisoned))),
            (false, None),
        ]);
}

/// Two threads. The second cell is held by a third party, so that the set is refused; the other
/// thread wants the first, which the set may have for a moment. Failure: it waits, and the set does
/// not tell of that.
#[test]
fn a_refused_set_tells_of_those_that_wait() {
    Bound::exhaustive(5)
        .outcomes("a waiter beside a set that gives back", || {
            let table = Table::new();
            assert_eq!(table.places[1].lock.try_lock(Write), Ok(()));
            let set = table.set(&[(0, Write), (1, Write)]);
            let waiter = thread::spawn({
                let table = StdArc::clone(&table);
                move || {
                    let lock = &table.places[0].lock;
                    lock.try_lock(Write).is_err() && lock.announce_waiter(Write)
                }
            });
            let refused = set.try_lock().unwrap_err();
            let waits = waiter.join().unwrap();
            assert_eq!(waits, refused.is_awaited, "sleeps for ever");
            waits
        })
        .assert_exactly([false, true]);
}
