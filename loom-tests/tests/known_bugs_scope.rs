//! The end of a scope in miniature, with one step out of place, which the models must catch. The
//! model must hold where nothing is wrong.
//!
//! A sleep is a flag, and no lock: the table of a bug has a row less for each.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU64, Ordering};
use filch_sync::cell::UnsafeCell;

/// The bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// A job looks whether the owner sleeps, and then takes itself off the count.
    EndAfterALook,
    /// The owner says by a store that it sleeps.
    SleepByStore,
    /// A job takes itself off the count, and touches the scope after that.
    TouchedAfterTheEnd,
    /// A job that spawns another one ends before it counts that.
    CountedLate,
}

const SLEEPS: u64 = 1 << 63;

/// A scope with one job, whose body has ended, and what its jobs may touch.
struct Scope {
    bug: Bug,
    word: AtomicU64,
    memory: UnsafeCell<u32>,
}

// SAFETY: that the memory is touched in turns is what the models claim.
unsafe impl Sync for Scope {}
// SAFETY: as above.
unsafe impl Send for Scope {}

impl Scope {
    /// Ends a job; returns whether the owner is woken.
    fn end_one(&self) -> bool {
        match self.bug {
            Bug::EndAfterALook => {
                let before = self.word.load(Ordering::Acquire);
                self.word.fetch_sub(1, Ordering::AcqRel);
                before == SLEEPS | 1
            }
            _ => self.word.fetch_sub(1, Ordering::AcqRel) == SLEEPS | 1,
        }
    }

    /// Sends the owner to sleep; returns whether it sleeps.
    fn sleep(&self) -> bool {
        if self.bug == Bug::SleepByStore {
            let word = self.word.load(Ordering::Relaxed);
            if word != 0 {
                self.word.store(word | SLEEPS, Ordering::Release);
            }
            return word != 0;
        }
        self.word
            .fetch_update(Ordering::Release, Ordering::Relaxed, |word| {
                (word != 0).then_some(word | SLEEPS)
            })
            .is_ok()
    }

    fn touch(&self) {
        // SAFETY: the claim.
        self.memory.with_mut(|memory| unsafe { *memory += 1 });
    }

    /// Runs the job, and another that it spawns; returns whether one of them wakes the owner.
    fn job(&self) -> bool {
        self.touch();
        let mut wakes = false;
        if self.bug == Bug::CountedLate {
            wakes |= self.end_one();
            self.word.fetch_add(1, Ordering::Relaxed);
        } else {
            self.word.fetch_add(1, Ordering::Relaxed);
            wakes |= self.end_one();
        }
        self.touch();
        wakes |= self.end_one();
        if self.bug == Bug::TouchedAfterTheEnd {
            self.touch();
        }
        wakes
    }
}

/// Two threads: a job that spawns another one, beside an owner that goes to sleep, or finds that
/// both have ended, and then has the memory for itself.
#[test]
fn a_job_beside_the_end() {
    Bound::exhaustive(5).check_and_refute(
        "scope: end and sleep are exchanges",
        |bug| {
            let scope = Arc::new(Scope {
                bug,
                word: AtomicU64::new(1),
                memory: UnsafeCell::new(0),
            });
            let job = beside(&scope, Scope::job);
            let sleeps = scope.sleep();
            if !sleeps {
                assert_eq!(scope.word.load(Ordering::Acquire), 0, "a job has not ended");
                scope.touch();
            }
            assert_eq!(sleeps, job.join().unwrap(), "nobody wakes the owner");
        },
        &[
            // The owner goes to sleep between the look and the end.
            (Bug::EndAfterALook, "nobody wakes the owner"),
            // The last job ends between the owner's look and its store, which overwrites that.
            (Bug::SleepByStore, "nobody wakes the owner"),
            // The owner has seen the end, and has left the frame in which the scope lies.
            (Bug::TouchedAfterTheEnd, "Causality violation"),
            // The count is 0 for a moment, and the owner believes it.
            (Bug::CountedLate, "Causality violation"),
        ],
    );
}
