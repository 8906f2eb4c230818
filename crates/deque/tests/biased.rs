//! A deque that is the owner's while no thief asks, told on one thread.

use filch_deque::{Request, Steal, Stealer, Worker};
use filch_sync::asymmetric::register;

/// Three items, in a deque that is the owner's. `None` where there are no heavy fences.
fn biased() -> Option<Worker<u32>> {
    if !register() {
        println!("no heavy fences here: nothing is biased");
        return None;
    }
    let worker = Worker::biased(8);
    worker.push_batch(0..4);
    assert_eq!(worker.pop(), Some(3));
    Some(worker)
}

/// A thief comes in vain, and has asked.
fn ask(stealer: &Stealer<u32>) {
    assert!(!stealer.is_shared());
    assert_eq!(stealer.steal(), Steal::Empty);
}

#[test]
fn a_new_deque_is_shared() {
    let worker = Worker::biased(8);
    worker.push(0);
    worker.push(1);
    assert_eq!(worker.stealer().steal(), Steal::Success(0));
}

#[test]
fn a_pop_that_finds_no_thief_takes_the_deque_back() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    ask(&stealer);
    assert_eq!(
        (stealer.len(), stealer.is_empty()),
        (3, false),
        "they can be counted"
    );
    assert_eq!(stealer.sole(), None);
}

#[test]
fn the_owner_answers_at_its_next_call() {
    let Some(pushes) = biased() else { return };
    ask(&pushes.stealer());
    pushes.push(3);
    assert_eq!(pushes.stealer().steal(), Steal::Success(0));

    let Some(tries) = biased() else { return };
    ask(&tries.stealer());
    assert_eq!(tries.try_push(3), Ok(()));
    assert_eq!(tries.stealer().steal(), Steal::Success(0));

    let Some(pops) = biased() else { return };
    ask(&pops.stealer());
    assert_eq!(pops.pop(), Some(2));
    assert_eq!(pops.stealer().steal(), Steal::Success(0));

    let Some(shares) = biased() else { return };
    shares.share();
    assert_eq!(shares.stealer().steal(), Steal::Success(0));
}

#[test]
fn a_thief_that_insists_needs_no_answer() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    let request = stealer.ask().expect("it is biased");
    assert!(request.is_pending());
    Request::revoke_all(&[request]).unwrap();
    assert!(stealer.ask().is_none(), "it is shared");
    assert_eq!(stealer.steal(), Steal::Success(0));
    assert_eq!(worker.pop(), Some(2));
    assert_eq!(worker.pop(), Some(1));
    assert_eq!(worker.pop(), None);
}

#[test]
fn a_request_that_was_answered_takes_nothing() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    let request = stealer.ask().expect("it is biased");
    worker.push(3);
    assert!(!request.is_pending());
    // The thief does not come, and the owner takes the deque back.
    assert_eq!((worker.pop(), worker.pop()), (Some(3), Some(2)));
    Request::revoke_all(&[request]).unwrap();
    ask(&stealer);
}

/// Else its next long job would cost another heavy fence.
#[test]
fn an_owner_that_was_silent_shares_for_a_while() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    Request::revoke_all(&[stealer.ask().expect("it is biased")]).unwrap();
    let turn = || {
        worker.push(7);
        assert_eq!(worker.pop(), Some(7));
        stealer.is_shared()
    };
    assert!((0..256).all(|_| turn()), "in reach");
    assert!(!(0..3).all(|_| turn()));
}

/// It may sleep, and would not hear of a push that goes the short way.
#[test]
fn a_deque_is_not_taken_back_from_a_thief_that_found_nothing() {
    let Some(worker) = biased() else { return };
    while worker.pop().is_some() {}
    worker.share();
    let stealer = worker.stealer();
    assert!(stealer.ask().is_none() && stealer.is_empty());
    assert_eq!(worker.pop(), None);
    worker.was_asked();
    worker.push(0);
    assert!(worker.was_asked(), "a thief may sleep");
    assert!(!worker.was_asked(), "that was said");
}

#[test]
fn an_owner_knows_that_it_was_asked() {
    let Some(worker) = biased() else { return };
    assert!(
        worker.was_asked(),
        "by those that slept before it was there"
    );
    worker.push(3);
    assert!(!worker.was_asked());
    ask(&worker.stealer());
    assert!(!worker.was_asked(), "it has not noticed");
    worker.pop();
    assert!(worker.was_asked());
    worker.share();
    worker.push(4);
    assert!(!worker.was_asked(), "once");
}

/// The ring turns, grows and shrinks under an owner that keeps it to itself.
#[test]
fn a_biased_ring_is_replaced() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    worker.push_batch(3..100);
    assert_eq!(worker.capacity(), 128);
    ask(&stealer);
    while worker.len() > 5 {
        worker.pop();
    }
    worker.shrink_to(0);
    assert_eq!(worker.capacity(), 8);
    ask(&stealer);
    worker.push(5);
    assert_eq!(stealer.steal(), Steal::Success(0));
    for round in 0..1_000 {
        worker.push(round);
        let _ = stealer.steal();
    }
    assert!(worker.capacity() <= 16);
}

/// No owner is left that could answer.
#[test]
fn an_owner_that_goes_leaves_no_thief_waiting() {
    let Some(worker) = biased() else { return };
    let stealer = worker.stealer();
    drop(worker);
    assert!(stealer.ask().is_none() && stealer.is_empty());
}
