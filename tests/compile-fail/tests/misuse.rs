//! Every case of misuse fails to compile, for the reason that it announces, and compiles without
//! the misuse.

use compile_fail::check;

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

#[test]
fn data_cell() {
    check("data-cell", SCRATCH);
}

#[test]
fn deque() {
    check("deque", SCRATCH);
}

#[test]
fn engine() {
    check("engine", SCRATCH);
}

#[test]
fn event_queue() {
    check("event-queue", SCRATCH);
}

#[test]
fn injector() {
    check("injector", SCRATCH);
}

#[test]
fn parker() {
    check("parker", SCRATCH);
}

#[test]
fn process_state() {
    check("process-state", SCRATCH);
}

#[test]
fn slab() {
    check("slab", SCRATCH);
}
