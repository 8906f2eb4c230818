//! The ways to lose a processor, a thread or the truth when processors change hands, each caught.
//! The protocol is reduced to a flag or two; beside each mistake stands its sound twin.

use filch_models::{Bound, beside};
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::{Arc, Mutex};

/// One processor, one thread that comes back from a blocking call, one that lets the processor go
/// idle.
#[derive(Default)]
struct Processor {
    /// The processor is idle. The thread that swaps it to false has it.
    idle: AtomicBool,
    /// A thread waits for a processor.
    waiting: AtomicBool,
    /// The waiting thread has been given it.
    given: AtomicBool,
}

impl Processor {
    fn take(&self) {
        if self.idle.swap(false, Ordering::AcqRel) {
            self.given.store(true, Ordering::Relaxed);
        }
    }
}

fn correct_return(processor: &Processor) {
    processor.waiting.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if processor.idle.load(Ordering::Relaxed) {
        processor.take();
    }
}

fn correct_idling(processor: &Processor) {
    processor.idle.store(true, Ordering::Release);
    fence(Ordering::SeqCst);
    if processor.waiting.load(Ordering::Relaxed) {
        processor.take();
    }
}

fn meet(back: fn(&Processor), rest: fn(&Processor)) {
    let processor = Arc::new(Processor::default());
    let thread = beside(&processor, back);
    rest(&processor);
    thread.join().unwrap();
    assert!(
        processor.given.load(Ordering::Relaxed),
        "a thread waits beside an idle processor"
    );
}

/// One of the two has a mistake, which is caught.
#[track_caller]
fn caught(claim: &str, back: fn(&Processor), rest: fn(&Processor)) {
    let symptom = "a thread waits beside an idle processor";
    Bound::exhaustive(2).refute(claim, symptom, move || meet(back, rest));
}

#[test]
fn a_return_and_a_rest() {
    Bound::exhaustive(10).check("wait, fence, look; rest, fence, look", || {
        meet(correct_return, correct_idling);
    });
    // Mistake: a thread that comes back writes that it waits, and looks for an idle processor, with
    // no fence between.
    let back = |processor: &Processor| {
        processor.waiting.store(true, Ordering::Release);
        if processor.idle.load(Ordering::Acquire) {
            processor.take();
        }
    };
    caught("wait, look, no fence between", back, correct_idling);
    // Mistake: a thread that comes back looks once, and then waits.
    let back = |processor: &Processor| {
        let idle = processor.idle.load(Ordering::Acquire);
        processor.waiting.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if idle {
            processor.take();
        }
    };
    caught("look, then wait", back, correct_idling);
    // Mistake: a processor that goes idle looks for tasks once more, but not for threads that wait.
    let claim = "rest, and look at the queues only";
    caught(claim, correct_return, |processor| {
        processor.idle.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
    });
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
    let sleeper = beside(&pool, |pool| {
        pool.idle.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if pool.global.load(Ordering::Relaxed) + pool.deque.load(Ordering::Relaxed) > 0 {
            pool.woken.store(true, Ordering::Relaxed);
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

#[test]
fn a_retirement_that_is_announced() {
    Bound::exhaustive(10).check("move the tasks, then wake one", || give_up(true));
    // Mistake: the tasks of a retired processor are moved, not published.
    Bound::exhaustive(2).refute(
        "move the tasks, wake none",
        "a task is there and its processor sleeps",
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
    let resizer = beside(&synced, |synced| {
        let mut synced = synced.lock().unwrap();
        synced.active = true;
        if std::mem::take(&mut synced.inactive) {
            synced.holders += 1;
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

#[test]
fn a_retirement_that_looks_again() {
    Bound::exhaustive(2).check("look, lock, look again, deactivate", || resize_twice(true));
    // Mistake: the decision to give a processor up is made before the lock is taken.
    Bound::exhaustive(2).refute(
        "look, lock, deactivate",
        "an active processor without a machine",
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
    let machine = beside(&pool, |pool| {
        pool.word.fetch_add(1, Ordering::Relaxed);
        pool.deque.store(0, Ordering::Release);
        pool.left.fetch_sub(1, Ordering::Relaxed);
        pool.word.fetch_add(1, Ordering::Release);
        // The call is over.
        pool.word.fetch_add(1, Ordering::Relaxed);
        pool.away.store(0, Ordering::Release);
        pool.left.fetch_sub(1, Ordering::Relaxed);
        pool.word.fetch_add(1, Ordering::Release);
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

#[test]
fn the_word_before_and_after() {
    Bound::exhaustive(4).check("idle before and after, and nothing in between", || {
        observe(|pool| {
            let word = pool.word.load(Ordering::Acquire);
            let nothing = word % 2 == 0
                && pool.away.load(Ordering::Relaxed) == 0
                && pool.deque.load(Ordering::Relaxed) == 0;
            fence(Ordering::Acquire);
            nothing && pool.word.load(Ordering::Relaxed) == word
        });
    });
    // Mistake: an idle word and then empty queues, each at its own moment.
    Bound::exhaustive(2).refute(
        "idle, then empty",
        "said to be over, and something ran",
        || {
            observe(|pool| {
                pool.word.load(Ordering::Acquire) % 2 == 0
                    && pool.away.load(Ordering::Acquire) == 0
                    && pool.deque.load(Ordering::Acquire) == 0
            });
        },
    );
    // Mistake: blocking calls are not counted: all processors are idle, all queues empty, and a
    // thread will come back with more.
    Bound::exhaustive(2).refute(
        "idle and empty, with a call under way",
        "said to be over, and something ran",
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
