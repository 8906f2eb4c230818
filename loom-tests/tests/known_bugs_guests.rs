//! The ways in which a guest loses a processor, a task or the end, each caught. The protocol is
//! reduced to a word or two; beside each mistake stands its sound twin.

use filch_models::{Bound, beside};
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, Mutex, lock};

/// The processor runs, or a guest has it.
const TAKEN: usize = 0;
/// The processor is idle, and its machine sleeps.
const IDLE: usize = 1;
/// The same, and the pool is being ended.
const CLOSED: usize = 2;

/// One processor, which is idle.
struct Pool {
    word: AtomicUsize,
    tasks: AtomicUsize,
    over: AtomicBool,
    woken: AtomicBool,
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            word: AtomicUsize::new(IDLE),
            tasks: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            woken: AtomicBool::new(false),
        })
    }

    fn takes(&self, from: usize) -> bool {
        self.word
            .compare_exchange(from, TAKEN, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    fn wake(&self) {
        if self.takes(IDLE) {
            self.woken.store(true, Ordering::Relaxed);
        }
    }
}

/// Ends the pool: nothing can run, and the machine that waits for the processor is told.
fn end(pool: &Pool) {
    let close = pool
        .word
        .compare_exchange(IDLE, CLOSED, Ordering::AcqRel, Ordering::Relaxed);
    if close.is_ok() {
        if pool.takes(CLOSED) {
            pool.woken.store(true, Ordering::Relaxed);
        }
        pool.over.store(true, Ordering::Relaxed);
    }
}

/// A guest comes as the pool is ended.
fn meet_the_end(borrows: fn(&Pool) -> bool) {
    let pool = Pool::new();
    let guest = beside(&pool, borrows);
    end(&pool);
    let visits = guest.join().unwrap();
    assert!(
        !(visits && pool.over.load(Ordering::Relaxed)),
        "a guest runs in a pool that is over, and a machine sleeps for ever"
    );
}

#[test]
fn a_guest_that_sees_the_end() {
    Bound::exhaustive(3).check("take what is idle, unless the pool is being ended", || {
        meet_the_end(|pool| pool.takes(IDLE));
    });
    // Mistake: to the guest a closed pool is one in which somebody searches, which does not
    // concern it.
    Bound::exhaustive(2).refute(
        "take what is idle",
        "a guest runs in a pool that is over",
        || meet_the_end(|pool| pool.takes(IDLE) || pool.takes(CLOSED)),
    );
}

/// A guest gives the processor back as a producer publishes a task.
fn meet_a_producer(gives_back: fn(&Pool)) {
    let pool = Pool::new();
    assert!(pool.takes(IDLE));
    let producer = beside(&pool, |pool| {
        pool.tasks.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if pool.word.load(Ordering::Relaxed) == IDLE {
            pool.wake();
        }
    });
    gives_back(&pool);
    producer.join().unwrap();
    assert!(
        pool.woken.load(Ordering::Relaxed),
        "a task waits beside an idle processor"
    );
}

#[test]
fn a_guest_that_looks_twice() {
    Bound::exhaustive(10).check("give back, fence, look twice, wake the lender", || {
        meet_a_producer(|pool| {
            pool.word.store(IDLE, Ordering::Release);
            fence(Ordering::SeqCst);
            if (0..2).all(|_| pool.tasks.load(Ordering::Relaxed) > 0) {
                pool.wake();
            }
        });
    });
    // Mistake: the guest was short, and nothing can have come.
    Bound::exhaustive(2).refute(
        "give back, and go",
        "a task waits beside an idle processor",
        || meet_a_producer(|pool| pool.word.store(IDLE, Ordering::Release)),
    );
    // Mistake: the guest looks before others can see that the processor is idle.
    Bound::exhaustive(2).refute(
        "look, then give back",
        "a task waits beside an idle processor",
        || {
            meet_a_producer(|pool| {
                fence(Ordering::SeqCst);
                let exists = pool.tasks.load(Ordering::Relaxed) > 0;
                pool.word.store(IDLE, Ordering::Release);
                if exists {
                    pool.wake();
                }
            });
        },
    );
}

/// A machine keeps its lone task that gave way, and wakes nobody. Then it takes a newer one, which
/// may take for ever. The only other processor was busy when that came, and goes idle now.
fn keeps_and_takes_another(takes_another: fn(&Pool)) {
    let pool = Pool::new();
    assert!(pool.takes(IDLE));
    let sleeper = beside(&pool, |pool| {
        pool.word.store(IDLE, Ordering::Release);
        fence(Ordering::SeqCst);
        if pool.tasks.load(Ordering::Relaxed) > 0 {
            pool.wake();
        }
    });
    pool.tasks.store(1, Ordering::Relaxed);
    takes_another(&pool);
    sleeper.join().unwrap();
    assert!(
        pool.woken.load(Ordering::Relaxed),
        "a task waits beside an idle processor"
    );
}

#[test]
fn a_kept_task_for_which_another_is_woken() {
    Bound::exhaustive(10).check("keep, take another: fence, look, wake one", || {
        keeps_and_takes_another(|pool| {
            fence(Ordering::SeqCst);
            if pool.word.load(Ordering::Relaxed) == IDLE {
                pool.wake();
            }
        });
    });
    // Mistake: the machine takes the newer one first, and leaves the kept one to itself.
    Bound::exhaustive(2).refute(
        "keep, take another",
        "a task waits beside an idle processor",
        || keeps_and_takes_another(|_| {}),
    );
}

/// The place of a machine that sleeps, in which a guest may be. What lies there is plain memory.
struct Place {
    is_taken: Mutex<()>,
    memory: UnsafeCell<()>,
    ran: AtomicUsize,
}

// SAFETY: that accesses are ordered is the claim.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Place {}

impl Place {
    fn run(&self) {
        // It takes a while.
        self.memory
            .with_mut(|_| self.ran.fetch_add(1, Ordering::Relaxed));
    }
}

/// A machine that sleeps is told to run something that only it may run, as a guest comes, is in its
/// place, or goes.
fn is_told(runs: fn(&Place)) {
    let place = Arc::new(Place {
        is_taken: Mutex::new(()),
        memory: UnsafeCell::new(()),
        ran: AtomicUsize::new(0),
    });
    let guest = beside(&place, |place| {
        let seat = place.is_taken.try_lock();
        seat.is_ok_and(|_seat| {
            place.run();
            true
        })
    });
    // loom has a thread that is about to try a lock wait for it; so it comes from elsewhere.
    place.ran.load(Ordering::Relaxed);
    runs(&place);
    let visits = guest.join().unwrap();
    let ran = place.ran.load(Ordering::Relaxed);
    assert_eq!(ran, 1 + usize::from(visits), "a job that nobody runs");
}

#[test]
fn a_machine_that_is_told_beside_its_guest() {
    Bound::exhaustive(3).check("wait for the guest", || {
        is_told(|place| {
            let _seat = lock(&place.is_taken);
            place.run();
        });
    });
    // Mistake: the machine is at nothing, so its place is its own.
    Bound::exhaustive(2).refute("run it", "Causality violation", || is_told(Place::run));
    // Mistake: the machine sleeps on, and the guest does not know of it.
    Bound::exhaustive(2).refute("leave it to the guest", "a job that nobody runs", || {
        is_told(|place| {
            if let Ok(_seat) = place.is_taken.try_lock() {
                place.run();
            }
        });
    });
}
