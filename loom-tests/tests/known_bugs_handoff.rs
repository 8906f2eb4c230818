//! The ways to lose a processor, a thread or the truth when processors change hands, each caught.
//! The protocol is reduced to a flag or two; beside each mistake stands its sound twin.
#![cfg(loom)]

use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::{Arc, Mutex, thread};
use loom_tests::{Bound, check, refute};

/// One processor, one thread that comes back from a blocking call, one that lets the processor go
/// idle.
#[derive(Default)]
struct Seat {
    /// The processor is idle. The thread that swaps it to false has it.
    idle: AtomicBool,
    /// A thread waits for a processor.
    waiting: AtomicBool,
    /// The waiting thread has been given it.
    given: AtomicBool,
}

impl Seat {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            idle: AtomicBool::new(false),
            waiting: AtomicBool::new(false),
            given: AtomicBool::new(false),
        })
    }

    fn take(&self) {
        if self.idle.swap(false, Ordering::AcqRel) {
            self.given.store(true, Ordering::Relaxed);
        }
    }
}

fn correct_return(seat: &Seat) {
    seat.waiting.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if seat.idle.load(Ordering::Relaxed) {
        seat.take();
    }
}

fn correct_idling(seat: &Seat) {
    seat.idle.store(true, Ordering::Release);
    fence(Ordering::SeqCst);
    if seat.waiting.load(Ordering::Relaxed) {
        seat.take();
    }
}

fn meet(back: fn(&Seat), rest: fn(&Seat)) {
    let seat = Seat::new();
    let thread = thread::spawn({
        let seat = Arc::clone(&seat);
        move || back(&seat)
    });
    rest(&seat);
    thread.join().unwrap();
    assert!(
        seat.given.load(Ordering::Relaxed),
        "a thread waits beside an idle processor"
    );
}

/// The control.
#[test]
fn a_return_and_a_rest_with_both_fences() {
    check(
        "wait, fence, look; rest, fence, look",
        Bound::exhaustive(10),
        || meet(correct_return, correct_idling),
    );
}

/// Mistake: a thread that comes back writes that it waits, and looks for an idle processor, with no
/// fence between.
#[test]
fn a_return_without_a_fence() {
    refute(
        "wait, look, no fence between",
        "a thread waits beside an idle processor",
        Bound::exhaustive(2),
        || {
            meet(
                |seat| {
                    seat.waiting.store(true, Ordering::Release);
                    if seat.idle.load(Ordering::Acquire) {
                        seat.take();
                    }
                },
                correct_idling,
            );
        },
    );
}

/// Mistake: a thread that comes back looks once, and then waits.
#[test]
fn a_return_that_looks_first() {
    refute(
        "look, then wait",
        "a thread waits beside an idle processor",
        Bound::exhaustive(2),
        || {
            meet(
                |seat| {
                    let idle = seat.idle.load(Ordering::Acquire);
                    seat.waiting.store(true, Ordering::Relaxed);
                    fence(Ordering::SeqCst);
                    if idle {
                        seat.take();
                    }
                },
                correct_idling,
            );
        },
    );
}

/// Mistake: a processor that goes idle looks for tasks once more, but not for threads that wait.
#[test]
fn a_rest_that_looks_for_tasks_only() {
    refute(
        "rest, and look at the queues only",
        "a thread waits beside an idle processor",
        Bound::exhaustive(2),
        || {
            meet(correct_return, |seat| {
                seat.idle.store(true, Ordering::Release);
                fence(Ordering::SeqCst);
            });
        },
    );
}

/// A processor with a task in its deque is given up as a neighbour goes to sleep.
fn give_up(announce: bool) {
    #[derive(Default)]
    struct Pool {
        deque: AtomicUsize,
        global: AtomicUsize,
        idle: AtomicBool,
        woken: AtomicBool,
    }
    let pool = Arc::new(Pool::default());
    pool.deque.store(1, Ordering::Relaxed);
    let look = |pool: &Pool| {
        fence(Ordering::SeqCst);
        if pool.idle.load(Ordering::Relaxed) {
            pool.woken.store(true, Ordering::Relaxed);
        }
    };
    let sleeper = thread::spawn({
        let pool = Arc::clone(&pool);
        move || {
            pool.idle.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if pool.global.load(Ordering::Relaxed) + pool.deque.load(Ordering::Relaxed) > 0 {
                pool.woken.store(true, Ordering::Relaxed);
            }
        }
    });
    let task = pool.deque.swap(0, Ordering::Relaxed);
    pool.global.fetch_add(task, Ordering::Relaxed);
    if announce {
        look(&pool);
    }
    sleeper.join().unwrap();
    assert!(
        pool.woken.load(Ordering::Relaxed),
        "a task is there and its processor sleeps"
    );
}

/// The control.
#[test]
fn a_retirement_that_is_announced() {
    check(
        "move the tasks, then wake one",
        Bound::exhaustive(10),
        || give_up(true),
    );
}

/// Mistake: the tasks of a retired processor are moved, not published.
#[test]
fn a_retirement_that_is_not_announced() {
    refute(
        "move the tasks, wake none",
        "a task is there and its processor sleeps",
        Bound::exhaustive(2),
        || give_up(false),
    );
}

/// A processor is given up as the number is raised again.
fn resize_twice(look_under_the_lock: bool) {
    /// The state that the lock guards.
    struct Synced {
        active: bool,
        inactive: bool,
        holders: usize,
    }
    let synced = Arc::new(Mutex::new(Synced {
        active: false,
        inactive: false,
        holders: 1,
    }));
    let resizer = thread::spawn({
        let synced = Arc::clone(&synced);
        move || {
            let mut synced = synced.lock().unwrap();
            synced.active = true;
            if std::mem::take(&mut synced.inactive) {
                synced.holders += 1;
            }
        }
    });
    let retires = !synced.lock().unwrap().active;
    if retires {
        let mut synced = synced.lock().unwrap();
        if !(look_under_the_lock && synced.active) {
            synced.inactive = true;
            synced.holders -= 1;
        }
    }
    resizer.join().unwrap();
    assert_eq!(
        synced.lock().unwrap().holders,
        1,
        "an active processor without a machine"
    );
}

/// The control.
#[test]
fn a_retirement_that_looks_again() {
    check(
        "look, lock, look again, deactivate",
        Bound::exhaustive(2),
        || resize_twice(true),
    );
}

/// Mistake: the decision to give a processor up is made before the lock is taken.
#[test]
fn a_retirement_decided_too_early() {
    refute(
        "look, lock, deactivate",
        "an active processor without a machine",
        Bound::exhaustive(2),
        || resize_twice(false),
    );
}

/// One processor. Idle with a task in its deque (its machine is in a blocking call), it is woken,
/// takes the task out of the deque, runs it, and sleeps again. `away` is whether the call is still
/// under way.
struct Observed {
    /// Counts the changes; even: idle.
    word: AtomicUsize,
    deque: AtomicUsize,
    away: AtomicUsize,
    left: AtomicUsize,
}

fn observe(is_quiescent: fn(&Observed) -> bool) {
    let pool = Arc::new(Observed {
        word: AtomicUsize::new(0),
        deque: AtomicUsize::new(1),
        away: AtomicUsize::new(1),
        left: AtomicUsize::new(2),
    });
    let machine = thread::spawn({
        let pool = Arc::clone(&pool);
        move || {
            pool.word.fetch_add(1, Ordering::Relaxed);
            pool.deque.store(0, Ordering::Release);
            pool.left.fetch_sub(1, Ordering::Relaxed);
            pool.word.fetch_add(1, Ordering::Release);
            // The call is over.
            pool.word.fetch_add(1, Ordering::Relaxed);
            pool.away.store(0, Ordering::Release);
            pool.left.fetch_sub(1, Ordering::Relaxed);
            pool.word.fetch_add(1, Ordering::Release);
        }
    });
    if is_quiescent(&pool) {
        assert_eq!(
            pool.left.load(Ordering::Relaxed),
            0,
            "said to be over, and something ran"
        );
    }
    machine.join().unwrap();
}

/// The control: the word, all the rest, the word again.
#[test]
fn the_word_before_and_after() {
    check(
        "idle before and after, and nothing in between",
        Bound::exhaustive(4),
        || {
            observe(|pool| {
                let word = pool.word.load(Ordering::Acquire);
                let nothing = word % 2 == 0
                    && pool.away.load(Ordering::Relaxed) == 0
                    && pool.deque.load(Ordering::Relaxed) == 0;
                fence(Ordering::Acquire);
                nothing && pool.word.load(Ordering::Relaxed) == word
            });
        },
    );
}

/// Mistake: an idle word and then empty queues, each at its own moment.
#[test]
fn the_word_before_only() {
    refute(
        "idle, then empty",
        "said to be over, and something ran",
        Bound::exhaustive(2),
        || {
            observe(|pool| {
                pool.word.load(Ordering::Acquire) % 2 == 0
                    && pool.away.load(Ordering::Acquire) == 0
                    && pool.deque.load(Ordering::Acquire) == 0
            });
        },
    );
}

/// Mistake: blocking calls are not counted: all processors are idle, all queues empty, and a thread
/// will come back with more.
#[test]
fn blocking_calls_forgotten() {
    refute(
        "idle and empty, with a call under way",
        "said to be over, and something ran",
        Bound::exhaustive(2),
        || {
            observe(|pool| {
                let word = pool.word.load(Ordering::Acquire);
                let nothing = word % 2 == 0 && pool.deque.load(Ordering::Relaxed) == 0;
                fence(Ordering::Acquire);
                nothing && pool.word.load(Ordering::Relaxed) == word
            });
        },
    );
}
