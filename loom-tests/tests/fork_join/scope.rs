//! Scopes: the end waits for all jobs, wherever they run.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_fork_join::Worker;
use filch_models::Bound;

use super::{Plain, registered, shared, thief};

/// A cell that a job of a scope borrows: it runs once, after what was before it, and the scope's
/// end is after it.
struct Mark(Plain);

impl Mark {
    fn new() -> Self {
        Self(Plain::new())
    }

    fn job(&self, worker: &Worker) {
        assert_eq!(self.0.get(), 0, "it runs twice");
        self.0.set(1 + worker.index() as u32);
    }

    /// Returns the slot in which it ran. The scope is over: nobody else touches it.
    fn ran_in(&self) -> usize {
        let slot = self.0.get().checked_sub(1).expect("the scope has ended");
        self.0.set(0);
        slot as usize
    }
}

/// Two threads: an owner spawns two jobs in a scope, and a thief tries twice. The owner runs what
/// is left, and sleeps while the thief is in a job. A failure: a job that runs twice or never, a
/// scope that ends before its jobs (a causality violation), or an owner that sleeps for ever.
#[test]
fn the_end_waits_for_all_jobs() {
    Bound::preemptions(2, 1_100)
        .outcomes("scope: two jobs and a thief", || {
            let shared = shared();
            let worker = registered(&shared);
            let thief = thief(&shared, 2);
            let marks = [Mark::new(), Mark::new()];
            worker.scope(|scope| {
                for mark in &marks {
                    scope.spawn(|worker, _| mark.job(worker));
                }
            });
            let here = worker.index();
            let stolen = marks.each_ref().map(|mark| mark.ran_in() != here);
            let ran = thief.join().unwrap();
            assert_eq!(ran, stolen.iter().filter(|stolen| **stolen).count());
            stolen
        })
        .assert_exactly([[false, false], [true, false], [false, true], [true, true]]);
}

/// Two threads: a job spawns another one, which the thief may leave to the owner. A failure: the
/// scope ends between the two.
#[test]
fn a_job_may_spawn_another_one() {
    Bound::preemptions(2, 3_000)
        .outcomes("scope: a job of a job", || {
            let shared = shared();
            let worker = registered(&shared);
            let thief = thief(&shared, 2);
            let marks = [Mark::new(), Mark::new()];
            let [first, second] = &marks;
            worker.scope(|scope| {
                scope.spawn(|worker, scope| {
                    first.job(worker);
                    scope.spawn(|worker, _| second.job(worker));
                });
            });
            let here = worker.index();
            let stolen = marks.each_ref().map(|mark| mark.ran_in() != here);
            thief.join().unwrap();
            stolen
        })
        .assert_exactly([[false, false], [true, false], [false, true], [true, true]]);
}

/// Two threads: one of two jobs panics, here or on the thief's thread. A failure: the panic leaves
/// the scope before the other job has ended (a causality violation), or does not arrive.
#[test]
fn a_panic_waits_for_the_other_job() {
    Bound::preemptions(2, 1_100)
        .outcomes("scope: a job that panics", || {
            let shared = shared();
            let worker = registered(&shared);
            let thief = thief(&shared, 2);
            let mark = Mark::new();
            let scope = catch_unwind(AssertUnwindSafe(|| {
                worker.scope(|scope| {
                    scope.spawn(|_, _| resume_unwind(Box::new("wanted")));
                    scope.spawn(|worker, _| mark.job(worker));
                });
            }));
            let payload = scope.expect_err("a job panics");
            assert_eq!(payload.downcast_ref(), Some(&"wanted"));
            let is_stolen = mark.ran_in() != worker.index();
            thief.join().unwrap();
            is_stolen
        })
        .assert_exactly([false, true]);
}
