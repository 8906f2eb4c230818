//! The word of a process: what a turn between two messages costs.

use std::hint::black_box;

use filch_process_state::{ProcessState, Reason, Wake};

use crate::{Measure, repeat};

/// Woken by a message, started, and idle again.
pub(crate) fn turn(measure: &mut dyn Measure) {
    let state = ProcessState::new_ready();
    assert!(state.start().is_ok());
    assert!(state.idle().is_ok());
    repeat(measure, || {
        assert_eq!(black_box(&state).wake(Reason::Message), Wake::Enqueue);
        assert!(black_box(state.start()).is_ok());
        assert!(black_box(state.idle()).is_ok());
    });
}
