//! A job for every thread.

use std::array;

use filch_fork_join::protocol::{Latch, Thief, wait};
use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::{Plain, registered, shared};

/// Two threads: one has a job run on both, and waits for the end of it; the other one waits for a
/// branch, which ends after that, and may sleep before it is told. Each runs its share once. A
/// failure: a share that runs twice or elsewhere, or a sleeper that is not told (a deadlock).
#[test]
fn a_joiner_takes_part() {
    Bound::preemptions(2, 9_000)
        .outcomes("broadcast: beside a joiner that goes to sleep", || {
            let shared = shared();
            let (caller, joiner) = (registered(&shared), registered(&shared));
            let latch = Arc::new(Latch::holding(0));
            latch.begin(Thief {
                slot: caller.index(),
                base: 0,
            });
            let joiner_slot = joiner.index();
            let joins = beside(&latch, move |latch| wait(&joiner, latch));
            let shares: [Plain; 2] = array::from_fn(|_| Plain::new());
            caller.scope(|scope| {
                scope.spawn_broadcast(|worker, _| {
                    let share = &shares[worker.index()];
                    share.set(share.get() + 1);
                });
            });
            assert!(shares.iter().all(|share| share.get() == 1), "not once each");
            shared.finish(&latch, joiner_slot);
            joins.join().unwrap();
        })
        .assert_exactly([()]);
}
