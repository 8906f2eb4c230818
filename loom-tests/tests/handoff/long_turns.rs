//! The thread that looks after long turns, and sleeps while there is nothing in the source.

use filch_models::{Bound, beside};
use filch_parker::Parker;
use filch_processors::protocol::LongTurns;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering, fence};

/// Two threads: the one that looks after long turns finds nothing, and sleeps; the other one puts
/// something into the source, passes a fence, as each publication does, and says so. A failure: it
/// sleeps beside what is there (a deadlock).
#[test]
fn the_one_that_looks_after_long_turns_is_awake_beside_work() {
    Bound::exhaustive(10)
        .outcomes("it sees what was put there, or is woken", || {
            let shared = Arc::new((LongTurns::new(1), AtomicBool::new(false)));
            let parker = Parker::new();
            assert!(shared.0.unparker.set(parker.unparker()).is_ok());
            let publisher = beside(&shared, |shared| {
                let (long_turns, work) = shared;
                // ORDERING: Relaxed, here and below: by the fences.
                work.store(true, Ordering::Relaxed);
                // ORDERING: SeqCst: that of a publication.
                fence(Ordering::SeqCst);
                long_turns.put();
            });
            let (long_turns, work) = &*shared;
            let sleeps = long_turns.try_sleep(|| !work.load(Ordering::Relaxed));
            if sleeps {
                parker.park();
            }
            publisher.join().unwrap();
            sleeps
        })
        .assert_exactly([true, false]);
}

/// Two threads of a pool whose processors are overdue: as many make way as are wanted, each once. A
/// failure: both do, for one that waits.
#[test]
fn as_many_make_way_as_are_wanted() {
    Bound::exhaustive(2).check("one of two makes way", || {
        let long_turns = Arc::new(LongTurns::new(2));
        assert!(!long_turns.is_due(0));
        long_turns.mark(0, true);
        long_turns.mark(1, true);
        long_turns.want(1);
        let other = beside(&long_turns, |long_turns| long_turns.is_due(1));
        let first = long_turns.is_due(0);
        assert!(first ^ other.join().unwrap());
        assert!(!long_turns.is_due(0) && !long_turns.is_due(1));
        long_turns.mark(0, true);
        long_turns.mark(0, false);
        long_turns.want(1);
        assert!(!long_turns.is_due(0));
    });
}
