//! Items that are pushed together: in order, at once, or not at all.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use filch_deque::{Steal, Worker};
use filch_sync::asymmetric::register;

/// Pushes them together.
fn push(worker: &Worker<u32>, items: impl ExactSizeIterator<Item = u32>) {
    let mut items = items;
    // SAFETY: a range has nothing to do with the deque.
    unsafe { worker.push_together(items.len(), || items.next().unwrap()) };
}

fn popped(worker: &Worker<u32>) -> Vec<u32> {
    iter::from_fn(|| worker.pop()).collect()
}

fn stolen(worker: &Worker<u32>) -> Vec<u32> {
    let stealer = worker.stealer();
    iter::from_fn(|| stealer.steal().success()).collect()
}

/// Of a deque that is always shared, and of one that may be its owner's.
fn each_kind(told: impl Fn(bool)) {
    register();
    [false, true].into_iter().for_each(told);
}

#[test]
fn they_come_after_what_was_there_and_before_what_follows() {
    each_kind(|may_bias| {
        let worker = Worker::starting_at(8, 0, may_bias);
        worker.push(0);
        push(&worker, 1..4);
        push(&worker, 4..4);
        worker.push(4);
        assert_eq!((worker.len(), worker.capacity()), (5, 8));
        assert_eq!(worker.stealer().steal(), Steal::Success(0));
        assert_eq!(worker.stealer().steal(), Steal::Success(1));
        assert_eq!(popped(&worker), [4, 3, 2]);
    });
}

/// A failure: an item lies in the wrong place, where the ring begins anew or was replaced.
#[test]
fn they_keep_their_order_across_the_end_of_the_ring() {
    each_kind(|may_bias| {
        for (before, held, count) in (0..9)
            .flat_map(|before| (0..4).map(move |held| (before, held)))
            .flat_map(|(before, held)| (0..20).map(move |count| (before, held, count)))
            .step_by(if cfg!(miri) { 7 } else { 1 })
        {
            let told = format!("{before} before the wrap, {held} held, {count} more");
            let worker = Worker::starting_at(8, u32::MAX - before, may_bias);
            worker.push_batch(0..held);
            push(&worker, held..held + count);
            // There is room for one more, as between all calls.
            let room = (held + count + 1).next_power_of_two().max(8);
            assert_eq!(worker.capacity(), room as usize, "{told}");
            worker.push(held + count);
            assert!(stolen(&worker).into_iter().eq(0..=held + count), "{told}");
        }
    });
}

/// A thief has asked before, and finds all of it after; and the owner knows that.
#[test]
fn an_owner_answers_by_them() {
    if !register() {
        return;
    }
    let worker = Worker::biased(8);
    worker.push_batch(0..2);
    assert_eq!(worker.pop(), Some(1));
    worker.was_asked();
    push(&worker, 1..3);
    assert_eq!(worker.stealer().steal(), Steal::Empty, "it is the owner's");
    assert!(!worker.was_asked());
    push(&worker, 3..5);
    assert!(worker.was_asked());
    assert_eq!(stolen(&worker), [0, 1, 2, 3, 4]);
}

/// A panic takes what was given before it along: thieves and the owner find what was there before,
/// and the next items come in its place.
#[test]
fn none_of_them_is_there_after_a_panic() {
    each_kind(|may_bias| {
        for given in 0..12 {
            let worker = Worker::starting_at(8, u32::MAX - 3, may_bias);
            worker.push_batch(0..2);
            let mut items = 2..2 + given;
            let next = || items.next().unwrap_or_else(|| resume_unwind(Box::new(())));
            // SAFETY: a range has nothing to do with the deque, and leaks nothing.
            let pushing = || unsafe { worker.push_together(12, next) };
            assert!(catch_unwind(AssertUnwindSafe(pushing)).is_err());
            assert_eq!((worker.len(), worker.stealer().len()), (2, 2));
            push(&worker, 102..105);
            worker.share();
            assert_eq!(worker.stealer().steal(), Steal::Success(0));
            assert_eq!(popped(&worker), [104, 103, 102, 1]);
            push(&worker, 0..30);
            worker.share();
            assert!(stolen(&worker).into_iter().eq(0..30));
        }
    });
}

/// The room is made before the first is asked for.
#[test]
fn too_many_are_refused_before_there_is_one() {
    each_kind(|may_bias| {
        let worker = Worker::starting_at(8, 0, may_bias);
        worker.push(0);
        // SAFETY: it is not called.
        let pushing =
            || unsafe { worker.push_together(1 << 28, || unreachable!("there is no room")) };
        let payload = catch_unwind(AssertUnwindSafe(pushing)).unwrap_err();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| payload.downcast_ref::<&str>().copied());
        assert!(message.unwrap().contains("2^28"), "{message:?}");
        push(&worker, 1..3);
        assert_eq!(stolen(&worker), [0, 1, 2]);
    });
}
