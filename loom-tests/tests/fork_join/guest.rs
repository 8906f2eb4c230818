//! A guest: a thread from outside in the place of one that has nothing to do.

use filch_fork_join::Worker;
use filch_fork_join::protocol::{receive_guests, run_own, visit};
use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::{Plain, registered, shared_with_a_host};

/// A worker, which its thread and a guest use by turns.
struct Lent(Worker);

// SAFETY: that they do is the claim. The guest sees to it, and `run_own`.
unsafe impl Sync for Lent {}
// SAFETY: as above.
unsafe impl Send for Lent {}

/// Three threads: one has a job run on each, itself among them; it wakes the second one for that,
/// which sleeps, and in whose place the third one is, or comes, or has been. A failure: two are in
/// that place at once (a causality violation), or the job in it is left alone (a deadlock).
#[test]
fn against_a_job_for_its_thread_alone() {
    Bound::preemptions(2, 1_000)
        .outcomes("a guest and a thread that is told", || {
            let (shared, parker, _kept) = shared_with_a_host();
            let teller = registered(&shared);
            let lent = Arc::new(Lent(registered(&shared)));
            receive_guests(&lent.0, 7);
            let place = Arc::new([Plain::new(), Plain::new()]);
            let second = Arc::new(Plain::new());
            let guest = beside(&shared, {
                let (place, second) = (Arc::clone(&place), Arc::clone(&second));
                move |shared| {
                    let work = move |worker: &Worker| {
                        let place = &place[worker.index()];
                        second.set(place.get());
                        place.set(place.get() + 1);
                    };
                    // SAFETY: the lender below runs nothing but what is its own.
                    unsafe { visit(shared, 1, 7, work) };
                }
            });
            let lender = beside(&lent, move |lent| {
                while !run_own(&lent.0) {
                    parker.park();
                }
            });
            teller.scope(|scope| {
                scope.spawn_broadcast(|worker, _| {
                    let place = &place[worker.index()];
                    place.set(place.get() + 1);
                });
            });
            lender.join().unwrap();
            guest.join().unwrap();
            assert_eq!([place[0].get(), place[1].get()], [1, 2]);
            second.get()
        })
        .assert_exactly([0, 1]);
}
