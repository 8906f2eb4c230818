//! Models of the process table and the exit cells in its slots, without the workers: what runs the
//! processes is too much for loom, and `processes.rs` stands in its place.
//!
//! loom sees a cell that two threads touch at once as a race, a joiner that nobody wakes as a
//! deadlock, and an exit, a message or a waiter that is lost as a leaked `Arc`.

mod awaiting;
mod exit;
mod lives;
mod pins;
mod processes;
mod retirement;

use filch_scheduler::Pid;
use filch_sync::Arc;

/// A table whose messages and exits loom watches.
pub(crate) type Table = Arc<processes::Processes>;

/// A table with one process, which the caller has started, and whose handle it has.
pub(crate) fn one_occupant() -> (Table, Pid) {
    let table = Arc::new(processes::Processes::new());
    let pid = next_occupant(&table);
    assert_eq!(pid.slot(), 0);
    (table, pid)
}

/// One more such process.
pub(crate) fn next_occupant(table: &Table) -> Pid {
    let pid = table.submit();
    table.start(pid);
    pid
}

/// Asserts that nobody lives in the first `places` places, and each was given back once: the next
/// occupants find room in all of them, and those behind them, new ones.
pub(crate) fn assert_given_back(table: &Table, places: u32) {
    let mut found: Vec<_> = (0..=places).map(|_| table.submit().slot()).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        (0..=places).collect::<Vec<_>>(),
        "lost, or let twice"
    );
}
