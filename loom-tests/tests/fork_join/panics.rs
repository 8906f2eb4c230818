//! Branches that panic, here and on a thief's thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_models::Bound;

use super::{Plain, registered, shared, thief};

/// A panic without the hook.
fn give_up(what: &'static str) -> ! {
    resume_unwind(Box::new(what))
}

fn what(payload: Box<dyn Any + Send>) -> &'static str {
    *payload.downcast::<&'static str>().expect("one of ours")
}

/// Two threads: the owner's branch panics, the other one is stolen or not, and each outcome of the
/// join is what `b` ran on (the thief's thread or not) and what it said. Whatever panics, `b` has
/// ended when the panic leaves the join.
fn panicking(a_panics: bool, b_panics: bool) -> (bool, Option<&'static str>) {
    let shared = shared();
    let worker = registered(&shared);
    let thief = thief(&shared, 1);
    let borrowed = Plain::new();
    let here = worker.index();
    let stolen = Plain::new();
    let joined = catch_unwind(AssertUnwindSafe(|| {
        worker.join(
            |worker| {
                // The second fork makes the first one public.
                worker.join(|_| (), |_| ());
                if a_panics {
                    give_up("a");
                }
            },
            |worker| {
                borrowed.set(borrowed.get() + 1);
                stolen.set(u32::from(worker.index() != here));
                if b_panics {
                    give_up("b");
                }
            },
        );
    }));
    assert_eq!(borrowed.get(), 1, "the panic has left the join before `b`");
    borrowed.set(2);
    let outcome = (stolen.get() == 1, joined.err().map(what));
    thief.join().unwrap();
    outcome
}

/// A failure: `b` runs after the join has left its frame (a causality violation, or a second run);
/// a panic does not arrive, or on the thief's thread; or that of `b`, if both panic.
#[test]
fn a_branch_panics() {
    for (claim, bound, panics, arrives) in [
        (
            "`a` panics",
            Bound::preemptions(2, 5_600),
            [true, false],
            "a",
        ),
        (
            "`b` panics",
            Bound::preemptions(2, 5_600),
            [false, true],
            "b",
        ),
        (
            "both panic",
            Bound::preemptions(2, 5_600),
            [true, true],
            "a",
        ),
    ] {
        bound
            .outcomes(&format!("join, beside a thief: {claim}"), move || {
                panicking(panics[0], panics[1])
            })
            .assert_exactly([(false, Some(arrives)), (true, Some(arrives))]);
    }
}
