//! Sleep and wake, stage 1: a flag under a lock, and a condition variable.

use std::mem;

use filch_models::{Bound, beside};
use filch_sync::atomic::{AtomicU32, Ordering};
use filch_sync::{Arc, Mutex, lock};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Exercise 1: `park` lets go of the lock, and then waits.
    LetsGoFirst,
}

/// A condition variable, whose sleep is a return: a real deadlock makes loom abort the process, and
/// a test could not tell what it caught. A thread that waits at the end sleeps for ever.
#[derive(Default)]
pub(super) struct Condvar(AtomicU32);

impl Condvar {
    /// Begins to wait, and releases the lock, in one step.
    pub(super) fn wait<Guard>(&self, guard: Guard) {
        self.0.store(1, Ordering::Relaxed);
        drop(guard);
    }

    /// Wakes a thread that waits now, and remembers nothing.
    pub(super) fn notify(&self) {
        self.0.swap(0, Ordering::AcqRel);
    }

    /// Checks, when all other threads have ended, that none waits.
    pub(super) fn assert_awake(&self) {
        let waiting = self.0.load(Ordering::Relaxed);
        assert_eq!(waiting, 0, "nobody wakes the sleeper");
    }
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
        if mem::take(&mut *token) {
            return;
        }
        // ANCHOR_END: flag
        if self.bug == Bug::LetsGoFirst {
            drop(token);
            return self.condvar.wait(());
        }
        // ANCHOR: flag
        self.condvar.wait(token); // lets go of the lock, and is woken by what comes then
    }

    fn unpark(&self) {
        *lock(&self.token) = true;
        self.condvar.notify();
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
            flag.condvar.assert_awake();
        },
        // The notification comes after the look and before the wait, and is lost.
        &[(Bug::LetsGoFirst, "nobody wakes the sleeper")],
    );
}
