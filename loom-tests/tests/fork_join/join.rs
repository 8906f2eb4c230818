//! `join` against thieves.

use filch_fork_join::Worker;
use filch_models::Bound;
use filch_parker::Parker;

use super::{Plain, registered, shared, thief};

/// A branch of a join: it runs once, after the join began and before the join ends.
struct Branch<'fork> {
    before: &'fork Plain,
    after: Plain,
}

impl<'fork> Branch<'fork> {
    fn new(before: &'fork Plain) -> Self {
        Self {
            before,
            after: Plain::new(),
        }
    }

    /// Runs, and returns the slot in which it does.
    fn run(&self, worker: &Worker) -> usize {
        assert_eq!(self.before.get(), 1, "it runs before the fork");
        assert_eq!(self.after.get(), 0, "it runs twice");
        self.after.set(1);
        worker.index()
    }

    fn assert_ran(&self) {
        assert_eq!(self.after.get(), 1, "the join has ended without it");
    }
}

/// Two threads: the owner forks two branches, one inside the other's sibling, and takes back what
/// is still there. A thief tries twice. Each branch runs once, with what was before the fork in
/// sight, and what it did is in sight after the join. The thief gets the outer branch first. A
/// failure: a branch that runs twice or never, its memory touched too early or too late (a
/// causality violation), or an owner that sleeps for ever.
#[test]
fn each_branch_runs_once() {
    Bound::preemptions(2, 29_000)
        .outcomes("join: two forks and a thief", || {
            let shared = shared();
            let worker = registered(&shared);
            let thief = thief(&shared, 2);
            let before = Plain::new();
            before.set(1);
            let (inner, outer) = (Branch::new(&before), Branch::new(&before));
            let here = worker.index();
            let ((mine, inner_by), outer_by) = worker.join(
                |worker| {
                    let joined = worker.join(|_| 11, |worker| inner.run(worker));
                    inner.assert_ran();
                    joined
                },
                |worker| outer.run(worker),
            );
            outer.assert_ran();
            before.set(2);
            assert_eq!(mine, 11);
            let stolen = [outer_by, inner_by].map(|by| by != here);
            let ran = thief.join().unwrap();
            assert_eq!(ran, stolen.iter().filter(|stolen| **stolen).count());
            stolen
        })
        .assert_exactly([[false, false], [true, false], [true, true]]);
}

/// Two threads: a stolen branch forks in its turn, and waits in a leaf until somebody has run that
/// fork. Nobody but the owner can: it has nothing else to do, and takes it from its thief. A
/// failure: an owner that sleeps beside it (a deadlock).
#[test]
fn an_owner_steals_back_from_its_thief() {
    Bound::preemptions(2, 30_000).check("join: the owner takes part in what was stolen", || {
        let shared = shared();
        let worker = registered(&shared);
        let (begun, ran) = (Parker::new(), Parker::new());
        let (beginner, runner) = (begun.unparker(), ran.unparker());
        let (thief, ()) = worker.join(
            |_| {
                let thief = thief(&shared, 1);
                begun.park();
                thief
            },
            move |worker| {
                beginner.unpark();
                worker.join(|_| ran.park(), |_| runner.unpark());
            },
        );
        thief.join().unwrap();
    });
}
