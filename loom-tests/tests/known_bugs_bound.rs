//! The ways to lose a task that is bound to a thread, each caught. The state is reduced to what one
//! lock guards; beside each mistake stands its sound twin.

use filch_models::{Bound, beside, beside_both};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, Mutex};

/// A task is found for a bound machine that is about to wait for one.
fn find_for_one_about_to_wait(look_under_the_lock: bool) {
    let waits = Arc::new(Mutex::new(false));
    let queue = Arc::new(AtomicUsize::new(0));
    let bound = beside_both(&waits, &queue, move |waits, queue| {
        if queue.load(Ordering::Relaxed) > 0 {
            return true;
        }
        let mut waits = waits.lock().unwrap();
        if look_under_the_lock && queue.load(Ordering::Relaxed) > 0 {
            return true;
        }
        *waits = true;
        false
    });
    queue.fetch_add(1, Ordering::Relaxed);
    let lent = std::mem::take(&mut *waits.lock().unwrap());
    let seen = bound.join().unwrap();
    assert!(lent || seen, "a bound task waits for a machine that waits");
}

#[test]
fn a_bound_machine_that_looks_again() {
    Bound::exhaustive(2).check("look, lock, look again, wait", || {
        find_for_one_about_to_wait(true);
    });
    // Mistake: a bound machine finds its queue empty, and then says that it waits.
    Bound::exhaustive(2).refute(
        "look, lock, wait",
        "a bound task waits for a machine that waits",
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
    let idler = beside(&synced, go_idle);
    assert!(
        synced.lock().unwrap().bound_is_there,
        "the thread of a bound task has exited"
    );
    go_idle(&synced);
    idler.join().unwrap();
    assert!(!synced.lock().unwrap().bound_is_there);
}

#[test]
fn a_bound_machine_that_exits_in_the_end() {
    Bound::exhaustive(2).check(
        "the bound machine exits when no machine runs any more",
        || exit(true),
    );
    // Mistake: once the pool stops, bound machines exit as soon as they wait.
    Bound::exhaustive(1).refute(
        "the bound machine exits when another one goes idle",
        "the thread of a bound task has exited",
        || exit(false),
    );
}
