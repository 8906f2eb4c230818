//! Mistakes in one lock.

use filch_sync::atomic::Ordering;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

use super::toy::{Bug, FREE, POISONED, Toy};

/// Runs two threads with one lock, and returns their answers.
fn two<A: 'static, B>(
    bug: Option<Bug>,
    first: fn(&Toy) -> A,
    second: impl FnOnce(&Toy) -> B,
) -> (A, B, Arc<Toy>) {
    let toy = Arc::new(Toy::new(bug));
    let other = thread::spawn({
        let toy = Arc::clone(&toy);
        move || first(&toy)
    });
    let mine = second(&toy);
    (other.join().unwrap(), mine, toy)
}

/// A reader, and a writer that writes twice.
fn a_reader_beside_two_writes(bug: Option<Bug>) {
    let (read, written, toy) = two(bug, Toy::read, |toy| [toy.write(1), toy.write(2)]);
    if read.is_none() {
        assert_eq!(written, [true; 2], "refused by a reader that was refused");
    }
    assert_eq!(toy.word.load(Ordering::Relaxed), FREE, "never free again");
}

/// The control: the same model, with the lock without a mistake.
#[test]
fn a_reader_beside_two_writes_without_a_bug() {
    check(
        "a reader looks before it adds itself, and each unlocks by Release",
        Bound::exhaustive(140),
        || a_reader_beside_two_writes(None),
    );
}

/// The reader comes behind the writer, and does not see what it wrote.
#[test]
fn a_writer_that_publishes_nothing() {
    refute(
        "a writer unlocks by a Relaxed store",
        "Causality violation",
        Bound::exhaustive(2),
        || a_reader_beside_two_writes(Some(Bug::WriterPublishesNothing)),
    );
}

/// The writer comes behind the reader, which still reads.
#[test]
fn a_reader_that_leaves_unseen() {
    refute(
        "a reader unlocks by a Relaxed subtraction",
        "Causality violation",
        Bound::exhaustive(2),
        || a_reader_beside_two_writes(Some(Bug::ReaderLeavesUnseen)),
    );
}

/// The reader has added itself beside the first write, and has not yet taken itself back: nobody
/// holds the lock, but the second write is refused.
#[test]
fn a_reader_that_adds_itself_first() {
    refute(
        "a reader adds itself, and then looks",
        "refused by a reader that was refused",
        Bound::exhaustive(2),
        || a_reader_beside_two_writes(Some(Bug::ReaderAddsFirst)),
    );
}

/// The writer's store erases the reader that has not yet taken itself back; the word counts below
/// zero.
#[test]
fn a_reader_that_a_store_erases() {
    refute(
        "a reader adds itself beside a writer that unlocks by a store",
        "never free again",
        Bound::exhaustive(2),
        || a_reader_beside_two_writes(Some(Bug::ReaderAddsFirstBesideAStore)),
    );
}

/// A reader, and an owner that takes the value.
fn a_reader_beside_the_end(bug: Option<Bug>) {
    two(bug, Toy::read, |toy| {
        if toy.try_lock_to_end() {
            toy.set(u32::MAX);
        }
    });
}

/// The control.
#[test]
fn a_reader_beside_the_end_without_a_bug() {
    check(
        "the owner locks by an exchange",
        Bound::exhaustive(8),
        || a_reader_beside_the_end(None),
    );
}

/// The reader comes between the owner's look and its store.
#[test]
fn an_end_by_store() {
    refute(
        "the owner looks, and locks by a store",
        "Causality violation",
        Bound::exhaustive(2),
        || a_reader_beside_the_end(Some(Bug::EndByStore)),
    );
}

/// A writer that panics with the data half changed, and another one.
fn a_writer_beside_a_panic(bug: Option<Bug>) {
    const HALF: u32 = 1;
    two(
        bug,
        |toy| {
            if toy.try_lock_to_write() {
                toy.set(HALF);
                toy.poison();
            }
        },
        |toy| {
            if toy.try_lock_to_write() {
                assert_ne!(toy.get(), HALF, "half changed, and not poisoned");
                toy.unlock_from_writing();
            }
        },
    );
}

/// The control.
#[test]
fn a_writer_beside_a_panic_without_a_bug() {
    check(
        "a writer unlocks and poisons in one store",
        Bound::exhaustive(10),
        || a_writer_beside_a_panic(None),
    );
}

/// The other writer comes between the unlocking and the flag.
#[test]
fn poison_beside_the_word() {
    refute(
        "a writer unlocks, and then raises a flag",
        "half changed, and not poisoned",
        Bound::exhaustive(2),
        || a_writer_beside_a_panic(Some(Bug::PoisonBesideTheWord)),
    );
}

/// The lock is poisoned. Two threads clear that, and one of them writes.
fn two_clear(bug: Option<Bug>) {
    let toy = Arc::new(Toy::new(bug));
    toy.word.store(POISONED, Ordering::Relaxed);
    let clearer = thread::spawn({
        let toy = Arc::clone(&toy);
        move || {
            toy.clear_poison();
            toy.read()
        }
    });
    toy.clear_poison();
    toy.write(1);
    clearer.join().unwrap();
}

/// The control.
#[test]
fn two_clear_without_a_bug() {
    check(
        "poison is cleared by an exchange",
        Bound::exhaustive(65),
        || {
            two_clear(None);
        },
    );
}

/// One clears and locks between the other's look, which may be old, and its store, which takes the
/// lock away.
#[test]
fn cleared_by_store() {
    refute(
        "poison is cleared by a store",
        "Causality violation",
        Bound::exhaustive(2),
        || two_clear(Some(Bug::ClearedByStore)),
    );
}
