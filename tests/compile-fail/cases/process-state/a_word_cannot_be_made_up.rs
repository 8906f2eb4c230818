//! Words come from edges: no snapshot, and no state, can be written.

use filch_process_state::{ProcessState, Snapshot};

pub fn case() -> Snapshot {
    #[cfg(misuse)]
    let _ = Snapshot(7); //~ E0423 cannot initialize a tuple struct which contains private fields
    ProcessState::new_ready().snapshot()
}
