//! A process never runs again if its waker must enqueue it and does not.

#![deny(unused_must_use)]

use filch_process_state::{ProcessState, Reason};

pub fn case(process: &ProcessState) {
    #[cfg(misuse)]
    process.wake(Reason::Message); //~ unused_must_use that must be used
    #[cfg(not(misuse))]
    let _ = process.wake(Reason::Message);
}
