//! Sleep and wake, stage 1: a flag under a lock, and a condition variable.

use std::mem;

use filch_models::{Bound, beside};
use filch_sync::{Arc, Condvar, Mutex, lock};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Exercise 1: `park` lets go of the lock, and then waits.
    LetsGoFirst,
}

#[derive(Default)]
struct Flag {
    bug: Bug,
    token: Mutex<bool>,
    condvar: Condvar,
}

impl Flag {
    // ANCHOR: flag
    /// Takes the token, or sleeps until there is one.
    fn park(&self) {
        let mut token = lock(&self.token);
        while !mem::take(&mut *token) {
            // ANCHOR_END: flag
            if self.bug == Bug::LetsGoFirst {
                drop(token);
                token = lock(&self.token);
            }
            // ANCHOR: flag
            // Lets go of the lock, and is woken by what comes then.
            token = self.condvar.wait(token).unwrap();
        }
    }

    fn unpark(&self) {
        *lock(&self.token) = true;
        self.condvar.notify_one();
    }
    // ANCHOR_END: flag
}

#[test]
fn stage_1_a_flag_and_a_condition_variable_are_sound() {
    Bound::exhaustive(5).check_and_refute(
        "sleep 1: a flag under a lock",
        |bug| {
            let flag = Arc::new(Flag {
                bug,
                ..Flag::default()
            });
            let waker = beside(&flag, Flag::unpark);
            flag.park();
            waker.join().unwrap();
        },
        // The notification comes after the look and before the wait, and is lost.
        &[(Bug::LetsGoFirst, "deadlock")],
    );
}
