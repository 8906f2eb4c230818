//! Turns that take long while others wait: which processors are to make way, and whether anybody
//! looks after that.

use std::sync::OnceLock;

use filch_parker::Unparker;
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// The words between the thread that looks after long turns and the others.
#[derive(Debug)]
pub struct LongTurns {
    /// `true` while that thread sleeps, until something is put into the source.
    asleep: CachePadded<AtomicBool>,
    /// The unparker of that thread, once it is there.
    pub unparker: OnceLock<Unparker>,
    /// For each processor, `true` if it has been in the same task or external task for long.
    overdue: Box<[AtomicBool]>,
    /// The number of these that are to make way.
    wanted: AtomicUsize,
}

impl LongTurns {
    /// Makes a state without such a thread, in which nothing is long.
    pub fn new(processors: usize) -> Self {
        Self {
            asleep: CachePadded::new(AtomicBool::new(false)),
            unparker: OnceLock::new(),
            overdue: (0..processors).map(|_| AtomicBool::new(false)).collect(),
            wanted: AtomicUsize::new(0),
        }
    }

    /// Announces that the thread is about to sleep, and returns whether it should: not if
    /// `is_quiet` denies it after that.
    pub fn try_sleep(&self, is_quiet: impl FnOnce() -> bool) -> bool {
        // ORDERING: Relaxed: by the fence.
        self.asleep.store(true, Ordering::Relaxed);
        // ORDERING: SeqCst, partner of the fence that comes before `put`: either `is_quiet` sees
        // what was put into the source, or `put` sees that the thread sleeps.
        fence(Ordering::SeqCst);
        let is_quiet = is_quiet();
        if !is_quiet {
            // ORDERING: Relaxed: a token too many ends one sleep early.
            self.asleep.store(false, Ordering::Relaxed);
        }
        is_quiet
    }

    /// Wakes the thread, as something was put into the source, and a SeqCst fence has been passed
    /// since.
    #[inline]
    pub fn put(&self) {
        // ORDERING: Relaxed: by the fences.
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Wakes the thread, if it sleeps for long, or if it is to end.
    #[cold]
    pub fn wake(&self) {
        // ORDERING: Relaxed: the token carries what is to be seen. An exchange would spare a second
        // token, which does no harm.
        self.asleep.store(false, Ordering::Relaxed);
        if let Some(unparker) = self.unparker.get() {
            let _ = unparker.unpark();
        }
    }

    /// Says whether the processor has been in the same task or external task for long.
    pub fn mark(&self, processor: usize, is_overdue: bool) {
        // ORDERING: Relaxed: a request.
        self.overdue[processor].store(is_overdue, Ordering::Relaxed);
    }

    /// Asks `count` of those that are marked to make way.
    pub fn want(&self, count: usize) {
        // ORDERING: Relaxed: a request.
        self.wanted.store(count, Ordering::Relaxed);
    }

    /// Returns whether the processor of the calling thread is to make way: asked once.
    pub fn is_due(&self, processor: usize) -> bool {
        let overdue = &self.overdue[processor];
        // ORDERING: Relaxed, all: requests, which carry nothing.
        if !overdue.load(Ordering::Relaxed) {
            return false;
        }
        overdue.store(false, Ordering::Relaxed);
        let one_less = |wanted: usize| wanted.checked_sub(1);
        self.wanted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    }
}
