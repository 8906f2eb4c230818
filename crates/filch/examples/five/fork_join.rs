//! Fork/join: a fork stays where it was made, unless a thread that has nothing to do takes it.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use filch::fork_join::{Pool, Worker};

use crate::{NUMBERS, Programs, SHORTS, halves, none};

pub(crate) const PROGRAMS: Programs = [tree, none, long, none, failure];

// ANCHOR: tree
fn sum(worker: &Worker, numbers: Range<u64>, stolen: &AtomicU64) -> u64 {
    let Some([left, right]) = halves(&numbers) else {
        return numbers.start;
    };
    let forked_on = worker.index();
    let right = |worker: &Worker| {
        stolen.fetch_add((worker.index() != forked_on).into(), Ordering::Relaxed);
        sum(worker, right, stolen)
    };
    let (left, right) = worker.join(|worker| sum(worker, left, stolen), right);
    left + right
}
// ANCHOR_END: tree

fn tree() -> String {
    let stolen = AtomicU64::new(0);
    let sum = Pool::new(2)
        .unwrap()
        .install(|worker| sum(worker, NUMBERS, &stolen));
    assert_eq!(sum, NUMBERS.sum());
    format!("{} forks, {} stolen", NUMBERS.end - 1, stolen.into_inner())
}

fn long() -> String {
    let (done, shorts) = mpsc::channel();
    // ANCHOR: long
    let (ran, ()) = Pool::new(2).unwrap().install(|worker| {
        worker.join(
            // It waits for the other branch, which only another thread can run.
            move |_| shorts.iter().count(),
            move |_| (0..SHORTS).for_each(|_| done.send(()).unwrap()),
        )
    });
    // ANCHOR_END: long
    assert_eq!(ran, SHORTS);
    format!("1 thread of 2 ran {SHORTS} short ones meanwhile")
}

fn failure() -> String {
    let ran = AtomicU64::new(0);
    // ANCHOR: failure
    let both = catch_unwind(AssertUnwindSafe(|| {
        Pool::new(2).unwrap().install(|worker| {
            let fails = |_: &_| resume_unwind(Box::new("in the middle"));
            worker.join(fails, |_| ran.fetch_add(1, Ordering::Relaxed))
        })
    }));
    assert!(both.is_err()); // the caller is told, once both branches have ended
    assert_eq!(ran.into_inner(), 1);
    // ANCHOR_END: failure
    "1 branch of 2 panicked, and so did the join".to_owned()
}
