//! Mistakes in one lock.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::Ordering;

use super::toy::{Bug, FREE, POISONED, Toy};

/// A reader, and a writer that writes twice.
#[test]
fn a_reader_beside_two_writes() {
    Bound::exhaustive(140).check_and_refute(
        "a reader looks before it adds itself, and each unlocks by Release",
        |bug| {
            let toy = Arc::new(Toy::new(bug));
            let reader = beside(&toy, Toy::read);
            let written = [toy.write(1), toy.write(2)];
            if reader.join().unwrap().is_none() {
                assert_eq!(written, [true; 2], "refused by a reader that was refused");
            }
            assert_eq!(toy.word.load(Ordering::Relaxed), FREE, "never free again");
        },
        &[
            // The reader comes behind the writer, and does not see what it wrote.
            (Bug::WriterPublishesNothing, "Causality violation"),
            // The writer comes behind the reader, which still reads.
            (Bug::ReaderLeavesUnseen, "Causality violation"),
            // The reader has added itself beside the first write, and has not yet taken itself
            // back: nobody holds the lock, but the second write is refused.
            (Bug::ReaderAddsFirst, "refused by a reader that was refused"),
            // The writer's store erases the reader that has not yet taken itself back; the word
            // counts below zero.
            (Bug::ReaderAddsFirstBesideAStore, "never free again"),
        ],
    );
}

/// A reader, and an owner that takes the value.
#[test]
fn a_reader_beside_the_end() {
    Bound::exhaustive(8).check_and_refute(
        "the owner locks by an exchange",
        |bug| {
            let toy = Arc::new(Toy::new(bug));
            let reader = beside(&toy, Toy::read);
            if toy.try_lock_to_end() {
                toy.set(u32::MAX);
            }
            reader.join().unwrap();
        },
        // The reader comes between the owner's look and its store.
        &[(Bug::EndByStore, "Causality violation")],
    );
}

/// A writer that panics with the data half changed, and another one.
#[test]
fn a_writer_beside_a_panic() {
    const HALF: u32 = 1;
    Bound::exhaustive(10).check_and_refute(
        "a writer unlocks and poisons in one store",
        |bug| {
            let toy = Arc::new(Toy::new(bug));
            let writer = beside(&toy, |toy| {
                if toy.try_lock_to_write() {
                    toy.set(HALF);
                    toy.poison();
                }
            });
            if toy.try_lock_to_write() {
                assert_ne!(toy.get(), HALF, "half changed, and not poisoned");
                toy.unlock_from_writing();
            }
            writer.join().unwrap();
        },
        // The other writer comes between the unlocking and the flag.
        &[(Bug::PoisonBesideTheWord, "half changed, and not poisoned")],
    );
}

/// The lock is poisoned. Two threads clear that, and one of them writes.
#[test]
fn two_clear() {
    Bound::exhaustive(65).check_and_refute(
        "poison is cleared by an exchange",
        |bug| {
            let toy = Arc::new(Toy::new(bug));
            toy.word.store(POISONED, Ordering::Relaxed);
            let clearer = beside(&toy, |toy| {
                toy.clear_poison();
                toy.read()
            });
            toy.clear_poison();
            toy.write(1);
            clearer.join().unwrap();
        },
        // One clears and locks between the other's look, which may be old, and its store, which
        // takes the lock away.
        &[(Bug::ClearedByStore, "Causality violation")],
    );
}
