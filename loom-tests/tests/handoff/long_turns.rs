//! The thread that looks after long turns, and sleeps while there is nothing in the source.

use filch_parker::Parker;
use filch_processors::protocol::LongTurns;
use filch_sync::atomic::{AtomicBool, Ordering, fence};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check};

/// Two threads: the one that looks after long turns finds nothing, and sleeps; the other one puts
/// something into the source, passes a fence, as each publication does, and says so. A failure: it
/// sleeps beside what is there (a deadlock).
#[test]
fn the_one_that_looks_after_long_turns_is_awake_beside_work() {
    let outcomes = Outcomes::new();
    check(
        "it sees what was put there, or is woken",
        Bound::exhaustive(10),
        {
            let outcomes = outcomes.clone();
            move || {
                let shared = Arc::new((LongTurns::new(1), AtomicBool::new(false)));
                let parker = Parker::new();
                assert!(shared.0.unparker().set(parker.unparker()).is_ok());
                let publisher = thread::spawn({
                    let shared = Arc::clone(&shared);
                    move || {
                        let (long_turns, work) = &*shared;
                        // ORDERING: Relaxed, here and below: by the fences.
                        work.store(true, Ordering::Relaxed);
                        // ORDERING: SeqCst: that of a publication.
                        fence(Ordering::SeqCst);
                        long_turns.put();
                    }
                });
                let (long_turns, work) = &*shared;
                let sleeps = long_turns.try_sleep(|| !work.load(Ordering::Relaxed));
                if sleeps {
                    parker.park();
                }
                publisher.join().unwrap();
                outcomes.observe(sleeps);
            }
        },
    );
    outcomes.assert_exactly([true, false]);
}

/// Two threads of a pool whose processors are overdue: as many make way as are wanted, each once. A
/// failure: both do, for one that waits.
#[test]
fn as_many_make_way_as_are_wanted() {
    check("one of two makes way", Bound::exhaustive(2), || {
        let long_turns = Arc::new(LongTurns::new(2));
        assert!(!long_turns.is_due(0));
        long_turns.mark(0, true);
        long_turns.mark(1, true);
        long_turns.want(1);
        let other = thread::spawn({
            let long_turns = Arc::clone(&long_turns);
            move || long_turns.is_due(1)
        });
        let first = long_turns.is_due(0);
        assert!(first ^ other.join().unwrap());
        assert!(!long_turns.is_due(0) && !long_turns.is_due(1));
        long_turns.mark(0, true);
        long_turns.mark(0, false);
        long_turns.want(1);
        assert!(!long_turns.is_due(0));
    });
}
