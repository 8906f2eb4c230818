//! Tests of the harness itself: it must refuse models that prove nothing.

use filch_models::{Bound, Crossing, beside, beside_both};
use filch_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use filch_sync::{Arc, Condvar, Mutex};

#[test]
#[should_panic(expected = "one execution only")]
fn a_model_without_a_race_is_refused() {
    Bound::exhaustive(1).check("nothing happens", || ());
}

#[test]
#[should_panic(expected = "part of the algorithm is not being explored")]
fn a_model_that_shrank_is_refused() {
    Bound::exhaustive(1_000_000).check("two increments", two_increments);
}

#[test]
#[should_panic(expected = "the known bug was not caught")]
fn a_known_bug_that_is_none_is_refused() {
    Bound::exhaustive(2).refute("two increments", "", two_increments);
}

/// Store buffering with relaxed accesses: both threads may miss the other's store, and loom must
/// show it.
#[test]
fn every_outcome_of_store_buffering_is_reached() {
    Bound::exhaustive(4)
        .outcomes("store buffering shows all four outcomes", || {
            let x = Arc::new(AtomicUsize::new(0));
            let y = Arc::new(AtomicUsize::new(0));
            let other = beside_both(&x, &y, move |x, y| {
                x.store(1, Ordering::Relaxed);
                y.load(Ordering::Relaxed)
            });
            y.store(1, Ordering::Relaxed);
            let own = x.load(Ordering::Relaxed);
            (own, other.join().unwrap())
        })
        .assert_exactly([(0, 0), (0, 1), (1, 0), (1, 1)]);
}

/// Main looks at a word; another thread looks at it, and writes it. With `crossing`, both pass one
/// first. Returns what main saw.
fn look_beside_a_look_and_a_write(crossing: bool) -> u32 {
    let crossing = crossing.then(Crossing::new);
    let pass = |crossing: &Option<Crossing>| crossing.as_ref().map_or((), Crossing::pass);
    let word = Arc::new(AtomicU32::new(0));
    let writer = beside_both(&word, &crossing, move |word, crossing| {
        pass(&crossing);
        word.load(Ordering::Relaxed);
        word.store(1, Ordering::Relaxed);
    });
    pass(&crossing);
    let seen = word.load(Ordering::Relaxed);
    writer.join().unwrap();
    seen
}

/// Shows why there is a [`Crossing`]: the writer's look hides main's, and loom finds nothing to
/// explore. When this fails, loom has learnt it, and the crossings can go.
#[test]
#[should_panic(expected = "one execution only")]
fn a_look_hides_an_earlier_one() {
    Bound::exhaustive(2).check("main sees 0 or 1", || {
        assert_eq!(look_beside_a_look_and_a_write(false), 0);
    });
}

#[test]
fn a_crossing_shows_what_a_look_hides() {
    Bound::exhaustive(2)
        .outcomes("main sees 0 or 1", || look_beside_a_look_and_a_write(true))
        .assert_exactly([0, 1]);
}

/// Each thread's load may overtake its store; that of thread 1 is stale in the table.
#[test]
fn the_table_of_store_buffering_needs_weak_memory() {
    let table = Bound::exhaustive(2).refute("store buffering", "both missed", store_buffering);
    assert_eq!(table, STORE_BUFFERING);
}

fn store_buffering() {
    let x = Arc::new(AtomicUsize::new(0));
    let y = Arc::new(AtomicUsize::new(0));
    let other = beside_both(&x, &y, move |x, y| {
        x.store(1, Ordering::Relaxed);
        y.load(Ordering::Relaxed)
    });
    y.store(1, Ordering::Relaxed);
    let own = x.load(Ordering::Relaxed);
    assert!(own + other.join().unwrap() > 0, "both missed");
}

const STORE_BUFFERING: &str = "\
Weak memory: no interleaving explains it.

| # | main | thread 1 | in |
| --- | --- | --- | --- |
| 0 | `x = 0`, `y = 0` |  |  |
| 1 | `y.store(1, Relaxed)` |  | `store_buffering` |
| 2 | `x.load(Relaxed) = 0` |  | `store_buffering` |
| 3 |  | `x.store(1, Relaxed)` | `store_buffering` |
| 4 |  | `y.load(Relaxed) = 0`, **stale**: of row 0, row 1 is newer | `store_buffering` |
";

/// Two threads add one by a load and a store. The turns of a loop are one.
#[test]
fn the_table_of_a_lost_update_is_an_interleaving() {
    let table = Bound::exhaustive(2).refute("a lost update", "lost", lost_update);
    assert_eq!(table, LOST_UPDATE);
}

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = beside(&counter, |counter| {
        let old = counter.load(Ordering::Relaxed);
        counter.store(old + 1, Ordering::Relaxed);
    });
    for _ in 0..3 {
        counter.fetch_add(0, Ordering::Relaxed);
    }
    let old = counter.load(Ordering::Relaxed);
    counter.store(old + 1, Ordering::Relaxed);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 2, "lost");
}

const LOST_UPDATE: &str = "\
An interleaving: each load reads the newest store.

| # | main | thread 1 | in |
| --- | --- | --- | --- |
| 0 | `counter = 0` |  |  |
| 1 … 3 | `counter.fetch_add(Relaxed): 0 → 0` |  | `lost_update` |
| 4 | `counter.load(Relaxed) = 0` |  | `lost_update` |
| 5 |  | `counter.load(Relaxed) = 0` | `lost_update` |
| 6 |  | `counter.store(1, Relaxed)` | `lost_update` |
| 7 | `counter.store(1, Relaxed)` |  | `lost_update` |
| 8 | `counter.load(Relaxed) = 1` |  | `lost_update` |
";

/// A deadlock does not end the process, though the threads hold guards and an `Arc`.
#[test]
fn two_locks_in_two_orders_are_refuted() {
    let table = Bound::exhaustive(2).refute("two locks in two orders", "deadlock", || {
        let left = Arc::new(Mutex::new(0));
        let right = Arc::new(Mutex::new(0));
        let other = beside_both(&left, &right, |left, right| {
            let _right = right.lock();
            let _left = left.lock();
        });
        let guard = left.lock();
        _ = right.lock();
        drop(guard);
        other.join().unwrap();
    });
    assert_eq!(table, TWO_LOCKS);
}

const TWO_LOCKS: &str = "\
An interleaving: each load reads the newest store.

| # | main | thread 1 | in |
| --- | --- | --- | --- |
| 0 |  |  |  |
| 1 | `left.lock` |  | `two_locks_in_two_orders_are_refuted` |
| 2 |  | `right.lock` | `two_locks_in_two_orders_are_refuted` |
| 3 |  | `left.lock …` | `two_locks_in_two_orders_are_refuted` |
| 4 | `right.lock …` |  | `two_locks_in_two_orders_are_refuted` |
";

/// As nobody holds the lock from its look to its wait, the notification may come in between.
#[test]
fn a_lost_notification_is_refuted() {
    let table = Bound::exhaustive(2).refute("a lost notification", "deadlock", || {
        let flag = Arc::new(Mutex::new(false));
        let raised = Arc::new(Condvar::new());
        let other = beside_both(&flag, &raised, |flag, raised| {
            *flag.lock().unwrap() = true;
            raised.notify_one();
        });
        let is_raised = *flag.lock().unwrap();
        if !is_raised {
            _ = raised.wait(flag.lock().unwrap());
        }
        other.join().unwrap();
    });
    assert_eq!(table, LOST_NOTIFICATION);
}

const LOST_NOTIFICATION: &str = "\
An interleaving: each load reads the newest store.

| # | main | thread 1 | in |
| --- | --- | --- | --- |
| 0 |  |  |  |
| 1 | `flag.lock` |  | `a_lost_notification_is_refuted` |
| 2 |  | `flag.lock` | `a_lost_notification_is_refuted` |
| 3 |  | `raised.notify_one` | `a_lost_notification_is_refuted` |
| 4 | `flag.lock` |  | `a_lost_notification_is_refuted` |
| 5 | `raised.wait` |  | `a_lost_notification_is_refuted` |
| 6 | `raised.wait …` |  | `a_lost_notification_is_refuted` |
";

fn two_increments() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = beside(&counter, |counter| counter.fetch_add(1, Ordering::Relaxed));
    counter.fetch_add(1, Ordering::Relaxed);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}
