//! The ways to lose a task that is bound to a thread, each caught. The state is reduced to what one
//! lock guards; beside each mistake stands its sound twin.
#![cfg(loom)]

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, check, refute};

/// A task is found for a bound machine that is about to wait for one.
fn find_for_one_about_to_wait(look_under_the_lock: bool) {
    let waits = Arc::new(Mutex::new(false));
    let queue = Arc::new(AtomicUsize::new(0));
    let bound = thread::spawn({
        let (waits, queue) = (Arc::clone(&waits), Arc::clone(&queue));
        move || {
            if queue.load(Ordering::Relaxed) > 0 {
                return true;
            }
            let mut waits = waits.lock().unwrap();
            if look_under_the_lock && queue.load(Ordering::Relaxed) > 0 {
                return true;
            }
            *waits = true;
            false
        }
    });
    queue.fetch_add(1, Ordering::Relaxed);
    let lent = std::mem::take(&mut *waits.lock().unwrap());
    let seen = bound.join().unwrap();
    assert!(lent || seen, "a bound task waits for a machine that waits");
}

/// The control.
#[test]
fn a_bound_machine_that_looks_again() {
    check("look, lock, look again, wait", Bound::exhaustive(2), || {
        find_for_one_about_to_wait(true);
    });
}

/// Mistake: a bound machine finds its queue empty, and then says that it waits.
#[test]
fn a_bound_machine_that_looks_too_early() {
    refute(
        "look, lock, wait",
        "a bound task waits for a machine that waits",
        Bound::exhaustive(2),
        || find_for_one_about_to_wait(false),
    );
}

/// The pool has been told to stop; of two machines one goes idle, and one still has a task for a
/// bound machine.
fn exit(look_at_all: bool) {
    struct Synced {
        running: usize,
        bound_is_there: bool,
    }
    let synced = Arc::new(Mutex::new(Synced {
        running: 2,
        bound_is_there: true,
    }));
    let go_idle = move |synced: &Mutex<Synced>| {
        let mut synced = synced.lock().unwrap();
        synced.running -= 1;
        if !look_at_all || synced.running == 0 {
            synced.bound_is_there = false;
        }
    };
    let idler = thread::spawn({
        let synced = Arc::clone(&synced);
        move || go_idle(&synced)
    });
    assert!(
        synced.lock().unwrap().bound_is_there,
        "the thread of a bound task has exited"
    );
    go_idle(&synced);
    idler.join().unwrap();
    assert!(!synced.lock().unwrap().bound_is_there);
}

/// The control.
#[test]
fn a_bound_machine_that_exits_in_the_end() {
    check(
        "the bound machine exits when no machine runs any more",
        Bound::exhaustive(2),
        || exit(true),
    );
}

/// Mistake: once the pool stops, bound machines exit as soon as they wait.
#[test]
fn a_bound_machine_that_exits_early() {
    refute(
        "the bound machine exits when another one goes idle",
        "the thread of a bound task has exited",
        Bound::exhaustive(1),
        || exit(false),
    );
}
