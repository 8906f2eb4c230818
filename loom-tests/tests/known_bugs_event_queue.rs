//! Ways to end a life of an event queue wrong, and to lose a block, each in a small copy, and each
//! caught. Those of its order and of its receiver's sleep are in `tour`.

use filch_models::{Bound, beside, beside_both};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

/// In the tail, beside the number of slots that are claimed.
const CLOSED: usize = 8;

/// A push beside a close. The queue then has the event, if it was accepted.
fn push_beside_a_close(close: fn(&AtomicUsize)) {
    let tail = Arc::new(AtomicUsize::new(0));
    let producer = beside(&tail, |tail| {
        tail.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    });
    close(&tail);
    let accepted = producer.join().unwrap();
    let claimed = tail.load(Ordering::Relaxed) & !CLOSED;
    assert_eq!(claimed, usize::from(accepted), "an accepted event was lost");
}

#[test]
fn a_close_by_a_store_undoes_a_claim() {
    Bound::exhaustive(2).check("a close is an exchange", || {
        push_beside_a_close(|tail| _ = tail.fetch_or(CLOSED, Ordering::Release));
    });
    // A claim between the load and the store is undone.
    let claim = "a close is a load and a store";
    Bound::exhaustive(2).refute(claim, "an accepted event was lost", || {
        push_beside_a_close(|tail| {
            let word = tail.load(Ordering::Acquire);
            tail.store(word | CLOSED, Ordering::Release);
        });
    });
}

/// A push that was meant for the first life, and the consumer, which ends that life and begins the
/// next. Gives what arrived in the second life.
fn stale_push(ask_after_the_claim: bool) {
    let tail = Arc::new(AtomicUsize::new(0));
    let generation = Arc::new(AtomicUsize::new(0));
    let producer = beside_both(&tail, &generation, move |tail, generation| {
        let meant = |generation: &AtomicUsize| generation.load(Ordering::Relaxed) == 0;
        meant(&generation)
            && tail
                .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            && (!ask_after_the_claim || meant(&generation))
    });
    let reopened = tail.fetch_or(CLOSED, Ordering::Release) == 0;
    if reopened {
        // Closed, and no slot is claimed.
        generation.store(1, Ordering::Relaxed);
        tail.fetch_and(!CLOSED, Ordering::Release);
    }
    let accepted = producer.join().unwrap();
    assert!(!(reopened && accepted), "an event of an earlier life");
}

/// A generation that is asked before the claim only: the producer sleeps in between, the queue is
/// reopened with the tail where it was, and the claim succeeds in the next life.
#[test]
fn a_generation_asked_before_the_claim_lets_a_stale_push_in() {
    Bound::exhaustive(5).check("a push for an earlier life is refused", || stale_push(true));
    Bound::exhaustive(2).refute(
        "it is enough to ask for the generation before the claim",
        "an event of an earlier life",
        || stale_push(false),
    );
}

/// A spare block that is stored over another one: a producer may have taken the first, or not; if
/// not, nothing leads to it any more.
#[test]
fn a_spare_stored_over_another_is_lost() {
    Bound::exhaustive(2).refute(
        "the consumer can keep each block that it leaves, without asking",
        "a block was lost",
        || {
            let spare = Arc::new(AtomicUsize::new(0));
            let producer = beside(&spare, |spare| spare.swap(0, Ordering::Acquire));
            // Blocks 1 and 2 are spent.
            spare.swap(1, Ordering::Release);
            spare.swap(2, Ordering::Release);
            let taken = producer.join().unwrap();
            let left = spare.load(Ordering::Relaxed);
            assert_eq!(taken + left, 1 + 2, "a block was lost");
        },
    );
}
