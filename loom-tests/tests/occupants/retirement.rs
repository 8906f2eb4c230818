//! The end of a table while somebody still holds pins.

use filch_models::Bound;
use filch_scheduler::Node;
use filch_scheduler::table::{Slot, Table};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

use super::pins::ended;

/// The table that is freed, with a cell in place of its memory.
struct Memory {
    table: Table<super::processes::Model>,
    is_freed: UnsafeCell<bool>,
}

// SAFETY: the cell is written by the one thread that frees the memory, and loom sees whether
// another one looks meanwhile.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn look(&self) {
        let is_freed = self.is_freed.with(|freed| {
            // SAFETY: the caller keeps the memory.
            unsafe { *freed }
        });
        assert!(!is_freed, "it is freed");
    }

    fn free(&self) {
        let before = self.is_freed.with_mut(|freed| {
            // SAFETY: the caller was told to.
            unsafe { std::mem::replace(&mut *freed, true) }
        });
        assert!(!before, "freed twice");
    }

    fn slot(&self, index: u32) -> &Slot<super::processes::Model> {
        self.table.slot(index)
    }

    /// Drops what holds a pin. Returns whether that freed the memory.
    fn unpin(&self, index: u32) -> bool {
        self.look();
        // SAFETY: each model gives each pin back once.
        let is_last = unsafe { self.table.unpin(self.slot(index)) };
        if is_last {
            self.free();
        }
        is_last
    }

    /// Drops the last owner.
    fn retire(&self) -> bool {
        self.look();
        let is_last = self.table.retire();
        if is_last {
            self.free();
        }
        is_last
    }
}

/// A table with two pins, on two slots or on one: the processes have ended.
fn left_with_two_pins(on_one_slot: bool) -> Arc<Memory> {
    let memory = Memory {
        table: Table::new(Node::default()),
        is_freed: UnsafeCell::new(false),
    };
    let first = ended(&memory.table);
    if on_one_slot {
        // SAFETY: the handle's pin is there.
        unsafe { memory.slot(first.slot()).share_pin() };
    } else {
        ended(&memory.table);
    }
    Arc::new(memory)
}

/// Three threads: the last owner of a table leaves it, and two threads give a pin back each, the
/// last ones. The claim: one of the three is told to free the table, when the others do not touch
/// it any more. A failure would be a race for the memory, or memory that nobody frees.
fn one_frees(claim: &'static str, on_one_slot: bool, at_least: u64) {
    Bound::exhaustive(at_least)
        .outcomes(claim, move || {
            let memory = left_with_two_pins(on_one_slot);
            let holders = [0, 1].map(|number| {
                let memory = memory.clone();
                let index = if on_one_slot { 0 } else { number };
                thread::spawn(move || memory.unpin(index))
            });
            let owner = memory.retire();
            let holders = holders.map(|holder| holder.join().unwrap());
            let freed = [owner, holders[0], holders[1]];
            assert_eq!(freed.iter().filter(|&&freed| freed).count(), 1, "leaked");
            freed.iter().position(|&freed| freed)
        })
        .assert_exactly([Some(0), Some(1), Some(2)]);
}

#[test]
fn the_last_of_two_slots_and_their_owner_frees_the_table() {
    one_frees("two slots and the owner: one frees", false, 20_000);
}

#[test]
fn the_last_of_two_pins_and_their_owner_frees_the_table() {
    one_frees("two pins and the owner: one frees", true, 2_400);
}
