//! The ways to end a pool too early, each caught. Beside each mistake stands its sound twin.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// One processor, idle.
struct Pool {
    /// The thread that swaps it to false has the processor.
    idle: AtomicBool,
    tasks: AtomicUsize,
    /// Threads in blocking calls.
    away: AtomicUsize,
    over: AtomicBool,
}

impl Pool {
    /// Takes the processor, and runs on it: the pool must not be over.
    fn runs(&self) -> bool {
        let takes = self.idle.swap(false, Ordering::AcqRel);
        assert!(
            !takes || !self.over.load(Ordering::Relaxed),
            "a thread runs in a pool that is over"
        );
        takes
    }

    fn claim(&self) -> bool {
        self.idle
            .compare_exchange(true, false, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

fn pool(away: usize) -> Arc<Pool> {
    Arc::new(Pool {
        idle: AtomicBool::new(true),
        tasks: AtomicUsize::new(0),
        away: AtomicUsize::new(away),
        over: AtomicBool::new(false),
    })
}

/// A producer comes as the pool is ended.
fn meet_a_producer(end: fn(&Pool)) {
    let pool = pool(0);
    let producer = beside(&pool, |pool| {
        pool.tasks.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        pool.runs()
    });
    end(&pool);
    let ran = producer.join().unwrap();
    assert!(
        !(ran && pool.over.load(Ordering::Relaxed)),
        "a thread runs in a pool that is over"
    );
}

fn is_empty(pool: &Pool) -> bool {
    fence(Ordering::SeqCst);
    pool.tasks.load(Ordering::Relaxed) == 0
}

#[test]
fn an_end_that_claims_the_moment() {
    Bound::exhaustive(4).check("look at the queues, claim the processor, be over", || {
        meet_a_producer(|pool| {
            if is_empty(pool) && pool.claim() {
                pool.over.store(true, Ordering::Relaxed);
            }
        });
    });
    // Mistake: the moment is looked at, and the processor taken afterwards, if it is still
    // there.
    Bound::exhaustive(2).refute(
        "look, be over, take what is idle",
        "a thread runs in a pool that is over",
        || {
            meet_a_producer(|pool| {
                if is_empty(pool) && pool.idle.load(Ordering::Acquire) {
                    pool.over.store(true, Ordering::Relaxed);
                    pool.claim();
                }
            });
        },
    );
}

/// A blocking call is under way as the pool is ended, and comes back.
fn meet_a_call(end: fn(&Pool)) {
    let pool = pool(1);
    let caller = beside(&pool, |pool| {
        assert!(
            pool.runs(),
            "a thread is back, and there is no processor for it"
        );
        pool.away.store(0, Ordering::Release);
        pool.idle.store(true, Ordering::Release);
    });
    end(&pool);
    caller.join().unwrap();
}

#[test]
fn an_end_that_waits_for_calls() {
    Bound::exhaustive(4).check("no thread is away, claim the processor", || {
        meet_a_call(|pool| {
            if pool.away.load(Ordering::Acquire) == 0 && pool.claim() {
                pool.over.store(true, Ordering::Relaxed);
            }
        });
    });
    // Mistake: all processors are idle, and all queues empty; a thread that is in a call is
    // forgotten.
    Bound::exhaustive(2).refute(
        "claim the processor beside a call",
        "a thread is back, and there is no processor for it",
        || {
            meet_a_call(|pool| {
                if pool.claim() {
                    pool.over.store(true, Ordering::Relaxed);
                }
            });
        },
    );
}
