//! Broken locks of data, each with a tempting mistake, which the models must catch. Each model is
//! there twice: it must hold of the lock without a mistake.
#![cfg(loom)]

use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

const FREE: u32 = 0;
const WRITER: u32 = 1 << 29;
const POISONED: u32 = 1 << 30;

/// Where the broken lock differs from the real one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    /// A writer unlocks by a Relaxed store.
    WriterPublishesNothing,
    /// A reader unlocks by a Relaxed subtraction.
    ReaderLeavesUnseen,
    /// A reader adds itself, looks, and takes itself back if there is a writer. A writer unlocks by
    /// taking its bit back.
    ReaderAddsFirst,
    /// The same, and a writer unlocks by a store.
    ReaderAddsFirstBesideAStore,
    /// The owner looks whether the lock is free, and takes it by a store.
    EndByStore,
    /// Poison is a flag beside the word, raised once the writer has unlocked.
    PoisonBesideTheWord,
    /// Poison is cleared by a store.
    ClearedByStore,
}

/// The real lock, except for `bug`, and a value.
struct Toy {
    bug: Option<Bug>,
    word: AtomicU32,
    /// Only with [`Bug::PoisonBesideTheWord`].
    poison: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is touched under the lock; where a bug lets two threads in, loom says so.
unsafe impl Sync for Toy {}

impl Toy {
    fn new(bug: Option<Bug>) -> Self {
        Self {
            bug,
            word: AtomicU32::new(FREE),
            poison: AtomicBool::new(false),
            value: UnsafeCell::new(0),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// The word is exchanged, or what it was instead.
    fn exchange(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.word
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
    }

    fn try_lock_to_read(&self) -> bool {
        if self.has(Bug::ReaderAddsFirst) || self.has(Bug::ReaderAddsFirstBesideAStore) {
            let is_in = self.word.fetch_add(1, Ordering::Acquire) < WRITER;
            if !is_in {
                self.word.fetch_sub(1, Ordering::Relaxed);
            }
            return is_in;
        }
        let mut word = self.word.load(Ordering::Relaxed);
        while word < WRITER {
            match self.exchange(word, word + 1) {
                Ok(_) => return true,
                Err(current) => word = current,
            }
        }
        false
    }

    fn unlock_from_reading(&self) {
        let ordering = if self.has(Bug::ReaderLeavesUnseen) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        self.word.fetch_sub(1, ordering);
    }

    fn try_lock_to_write(&self) -> bool {
        self.exchange(FREE, WRITER).is_ok() && !self.poison.load(Ordering::Acquire)
    }

    fn unlock_from_writing(&self) {
        match self.bug {
            Some(Bug::WriterPublishesNothing) => self.word.store(FREE, Ordering::Relaxed),
            Some(Bug::ReaderAddsFirst) => {
                self.word.fetch_sub(WRITER, Ordering::Release);
            }
            _ => self.word.store(FREE, Ordering::Release),
        }
    }

    fn poison(&self) {
        if self.has(Bug::PoisonBesideTheWord) {
            self.word.store(FREE, Ordering::Release);
            self.poison.store(true, Ordering::Release);
        } else {
            self.word.store(POISONED, Ordering::Release);
        }
    }

    fn clear_poison(&self) {
        if !self.has(Bug::ClearedByStore) {
            let _ = self.exchange(POISONED, FREE);
        } else if self.word.load(Ordering::Relaxed) == POISONED {
            self.word.store(FREE, Ordering::Relaxed);
        }
    }

    fn try_lock_to_end(&self) -> bool {
        if self.has(Bug::EndByStore) {
            let is_free = self.word.load(Ordering::Acquire) == FREE;
            if is_free {
                self.word.store(WRITER, Ordering::Relaxed);
            }
            return is_free;
        }
        self.try_lock_to_write()
    }

    fn get(&self) -> u32 {
        // SAFETY: the caller believes that it has locked this to read.
        self.value.with(|value| unsafe { *value })
    }

    fn set(&self, to: u32) {
        // SAFETY: the caller believes that it has locked this to write.
        self.value.with_mut(|value| unsafe { *value = to });
    }

    /// What a reader sees, if it is let in.
    fn read(&self) -> Option<u32> {
        self.try_lock_to_read().then(|| {
            let value = self.get();
            self.unlock_from_reading();
            value
        })
    }

    /// Writes, if it is let in; whether it was.
    fn write(&self, to: u32) -> bool {
        let is_in = self.try_lock_to_write();
        if is_in {
            self.set(to);
            self.unlock_from_writing();
        }
        is_in
    }
}

/// Two threads with one lock: what each of them answers.
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

/// The control: the same model, of the lock without a mistake.
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

/// The reader has added itself beside the first write, and has yet to take itself back: nobody
/// holds the lock, and the second write is refused.
#[test]
fn a_reader_that_adds_itself_first() {
    refute(
        "a reader adds itself, and then looks",
        "refused by a reader that was refused",
        Bound::exhaustive(2),
        || a_reader_beside_two_writes(Some(Bug::ReaderAddsFirst)),
    );
}

/// The writer's store erases the reader that has yet to take itself back; the word counts below
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

/// One clears and locks between the other one's look, which may be old, and its store, which takes
/// the lock away.
#[test]
fn cleared_by_store() {
    refute(
        "poison is cleared by a store",
        "Causality violation",
        Bound::exhaustive(2),
        || two_clear(Some(Bug::ClearedByStore)),
    );
}

/// How a broken set takes its two locks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// As they lie: the real set.
    Sorted,
    /// As they were named.
    AsNamed,
    /// As they lie, and what was locked stays so if the next is refused.
    KeptIfRefused,
}

/// Locks both, or says that they were not to be had.
fn try_lock_both(toys: &[Toy; 2], named: [usize; 2], order: Order) -> bool {
    let mut places = named;
    if order != Order::AsNamed {
        places.sort_unstable();
    }
    for (index, &place) in places.iter().enumerate() {
        if !toys[place].try_lock_to_write() {
            if order != Order::KeptIfRefused {
                places[..index]
                    .iter()
                    .for_each(|&held| toys[held].unlock_from_writing());
            }
            return false;
        }
    }
    true
}

/// Two threads want the same two locks, and name them in reverse order. A third party has the second
/// lock for a while if `is_second_held`.
fn two_sets(order: Order, is_second_held: bool) {
    let toys = Arc::new([Toy::new(None), Toy::new(None)]);
    if is_second_held {
        assert!(toys[1].try_lock_to_write());
    }
    let task = move |toys: &[Toy; 2], named: [usize; 2]| {
        let has_both = try_lock_both(toys, named, order);
        if has_both {
            toys.iter().for_each(Toy::unlock_from_writing);
        }
        has_both
    };
    let other = thread::spawn({
        let toys = Arc::clone(&toys);
        move || task(&toys, [1, 0])
    });
    let mine = task(&toys, [0, 1]);
    let others = other.join().unwrap();
    if is_second_held {
        toys[1].unlock_from_writing();
    } else {
        assert!(mine || others, "each refused the other");
    }
    assert!(task(&toys, [0, 1]), "left locked");
}

/// The control.
#[test]
fn two_sets_without_a_bug() {
    check("two sets lock in one order", Bound::exhaustive(20), || {
        two_sets(Order::Sorted, false);
    });
}

/// Each has one lock and is refused the other one. Both give back, and may meet again.
#[test]
fn two_sets_as_named() {
    refute(
        "two sets lock in the order of their parameters",
        "each refused the other",
        Bound::exhaustive(2),
        || two_sets(Order::AsNamed, false),
    );
}

/// The control.
#[test]
fn two_refused_sets_without_a_bug() {
    check(
        "a set gives back what it has if it is refused",
        Bound::exhaustive(10),
        || two_sets(Order::Sorted, true),
    );
}

/// The first lock stays locked when the second is refused.
#[test]
fn two_refused_sets_that_keep() {
    refute(
        "a set keeps what it has if it is refused",
        "left locked",
        Bound::exhaustive(2),
        || two_sets(Order::KeptIfRefused, true),
    );
}
