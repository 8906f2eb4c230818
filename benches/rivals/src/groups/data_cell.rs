//! Three pieces of data, locked together and unlocked again, by one thread. Nobody else wants them.
//!
//! The rivals have no sets: their three locks are tried one after the other, in a fixed order, as a
//! program would that has them. Nobody here waits.

use std::hint::black_box;
use std::sync::{Arc, RwLock as Std};

use atomic_refcell::AtomicRefCell;
use filch_data_cell::{Access, DataCell, LockSet};
use parking_lot::RwLock as ParkingLot;

use crate::clock::{cost, uncontended_rmws};
use crate::harness::Scenario;

/// Three locks, each in an allocation of its own, as the cells are. The macro is for the guards,
/// whose types name how long they live.
macro_rules! each {
    ($locks:expr, $new:expr, $one:ident => $guard:expr) => {{
        let three = [0_u64; 3].map(|value| Box::new($new(value)));
        move || {
            cost($locks, || {
                for _ in 0..$locks {
                    let guards = black_box(&three).each_ref().map(|$one| $guard);
                    assert!(black_box(&guards).iter().all(Option::is_some));
                }
            })
        }
    }};
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let locks = 250_000;
    let of = |how, access| {
        let name = format!("lock three for {how}, one thread");
        Scenario::new(name, "ns per set").contender("filch LockSet", filch(access, locks))
    };
    let std = each!(locks, Std::new, lock => lock.try_write().ok());
    let parking_lot = each!(locks, ParkingLot::new, lock => lock.try_write());
    let refcell = each!(locks, AtomicRefCell::new, cell => cell.try_borrow_mut().ok());
    let writing = of("writing", Access::Write)
        .contender("std RwLock", std)
        .contender("parking_lot RwLock", parking_lot)
        .contender("atomic_refcell", refcell)
        .floor("three uncontended RMWs", uncontended_rmws(3, locks));
    let std = each!(locks, Std::new, lock => lock.try_read().ok());
    let parking_lot = each!(locks, ParkingLot::new, lock => lock.try_read());
    let refcell = each!(locks, AtomicRefCell::new, cell => cell.try_borrow().ok());
    let reading = of("reading", Access::Read)
        .contender("std RwLock", std)
        .contender("parking_lot RwLock", parking_lot)
        .contender("atomic_refcell", refcell)
        .floor("six uncontended RMWs", uncontended_rmws(6, locks));
    vec![writing, reading]
}

/// A set of three cells.
fn filch(access: Access, locks: u64) -> impl FnMut() -> f64 {
    let cells = [0_u64; 3].map(|value| (Arc::new(DataCell::new(value)) as _, access));
    let set = LockSet::new(cells).expect("three cells");
    move || {
        cost(locks, || {
            for _ in 0..locks {
                drop(black_box(set.try_lock()).expect("free"));
            }
        })
    }
}
