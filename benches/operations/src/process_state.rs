//! The word of a process: what a turn between two messages costs.

use std::hint::black_box;

use filch_process_state::{ProcessState, Reason, Wake};

use crate::Operation;

/// Woken by a message, started, and idle again.
#[derive(Debug)]
pub struct Turn(ProcessState);

impl Operation for Turn {
    const NAME: &'static str = "process state: turn";
    const TIMES: u64 = 1024;

    fn new() -> Self {
        let state = ProcessState::new_ready();
        assert!(state.start().is_ok());
        assert!(state.idle().is_ok());
        Self(state)
    }

    fn run(&mut self) {
        for _ in 0..Self::TIMES {
            assert_eq!(black_box(&self.0).wake(Reason::Message), Wake::Enqueue);
            assert!(black_box(self.0.start()).is_ok());
            assert!(black_box(self.0.idle()).is_ok());
        }
    }
}
