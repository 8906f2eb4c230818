//! The scheduler's table and the exit cells in its slots, as shipped, without the workers: see
//! `filch_scheduler::occupants`.
//!
//! loom sees a cell that two threads touch at once as a race, a joiner whom nobody wakes as a
//! deadlock, and an exit, a message or a waiter that is lost as a leaked `Arc`.
#![cfg(loom)]

mod exit;
mod lives;

use filch_scheduler::occupants::Tenants;
use filch_scheduler::{Pid, Protocol};
use filch_sync::Arc;

/// Messages and outputs that loom watches.
pub(crate) enum Watched {}

impl Protocol for Watched {
    type Input = ();
    type Message = Arc<usize>;
    type Command = ();
    type Reply = ();
    type Output = Arc<usize>;
    type Error = String;
}

pub(crate) type Table = Arc<Tenants<Watched>>;

/// A table with one process, which the caller has started, and whose handle it has.
pub(crate) fn one_occupant() -> (Table, Pid) {
    let table = Arc::new(Tenants::new());
    let pid = next_occupant(&table);
    assert_eq!(table.place(pid), 0);
    (table, pid)
}

/// One more such process.
pub(crate) fn next_occupant(table: &Table) -> Pid {
    let pid = table.submit().unwrap();
    table.start(pid);
    pid
}

/// Nobody lives in the first `places` places, and each was given back once: the next occupants find
/// room in all of them, and those behind them, new ones.
pub(crate) fn assert_given_back(table: &Table, places: u32) {
    let mut found: Vec<_> = (0..=places)
        .map(|_| table.place(table.submit().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        (0..=places).collect::<Vec<_>>(),
        "lost, or let twice"
    );
}
