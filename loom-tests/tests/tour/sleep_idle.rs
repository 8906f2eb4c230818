//! Sleep and wake, stages 3 and 4: a processor that goes idle beside a producer, and one searcher
//! at a time.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 3: the producer has no fence.
    ProducerWithoutFence,
    /// Stage 3: the sleeper has none.
    SleeperWithoutFence,
    /// Exercise 3: the sleeper looks, and registers then.
    LooksFirst,
    /// The second look leaves out one of the queues.
    LooksAtOneQueue,
    /// Stage 4: the last searcher runs what it has found, and wakes no other.
    JustRuns,
    /// Exercise 4: a processor counts as searching when its thread runs.
    CountsItself,
}

/// `{searching: 16, idle: 16}`, of processors.
const SEARCHING: u32 = 1 << 16;

struct Pool {
    bug: Bug,
    /// Two queues, with a task or without.
    queues: [AtomicBool; 2],
    word: AtomicU32,
}

impl Pool {
    fn new(bug: Bug, word: u32) -> Arc<Self> {
        Arc::new(Self {
            bug,
            queues: [AtomicBool::new(false), AtomicBool::new(false)],
            word: AtomicU32::new(word),
        })
    }

    // ANCHOR: idle
    /// Publish; fence; look for an idle processor. Returns whether one is woken.
    fn submit(&self, queue: usize) -> bool {
        self.queues[queue].store(true, Ordering::Release);
        self.producer_fence(); // SeqCst
        self.wake_one()
    }

    /// Register; fence; look for a task. Returns whether one is woken.
    fn go_idle(&self) -> bool {
        // ANCHOR_END: idle
        if self.bug == Bug::LooksFirst {
            let has_task = self.has_task();
            fence(Ordering::SeqCst);
            self.word.fetch_add(1, Ordering::Release);
            return has_task && self.wake_one();
        }
        // ANCHOR: idle
        self.word.fetch_add(1, Ordering::Release);
        self.sleeper_fence(); // SeqCst
        self.has_task() && self.wake_one()
    }
    // ANCHOR_END: idle

    fn producer_fence(&self) {
        if self.bug != Bug::ProducerWithoutFence {
            fence(Ordering::SeqCst);
        }
    }

    fn sleeper_fence(&self) {
        if self.bug != Bug::SleeperWithoutFence {
            fence(Ordering::SeqCst);
        }
    }

    fn has_task(&self) -> bool {
        let first = usize::from(self.bug == Bug::LooksAtOneQueue);
        let mut queues = self.queues[first..].iter();
        queues.any(|queue| queue.load(Ordering::Acquire))
    }

    // ANCHOR: search
    /// Wakes an idle processor, unless one searches.
    fn wake_one(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word > 0 && word < SEARCHING {
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            let woken = word - 1 + self.searcher(); // SEARCHING: it counts from now on
            match self.word.compare_exchange(word, woken, ok, failed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Ends the search of a processor that has found a task. Returns whether one is woken.
    fn stop_searching(&self) -> bool {
        let was_last = self.word.fetch_sub(SEARCHING, Ordering::Release) < 2 * SEARCHING;
        // ANCHOR_END: search
        let was_last = was_last && self.bug != Bug::JustRuns;
        // ANCHOR: search
        if !was_last {
            return false;
        }
        fence(Ordering::SeqCst);
        self.has_task() && self.wake_one() // others have relied on it
    }
    // ANCHOR_END: search

    fn searcher(&self) -> u32 {
        if self.bug == Bug::CountsItself {
            0
        } else {
            SEARCHING
        }
    }
}

/// One thread submits a task, beside one that does something. Of the two, one wakes a processor.
fn submit_beside(bug: Bug, word: u32, queue: usize, does: fn(&Pool) -> bool) {
    let pool = Pool::new(bug, word);
    let other = beside(&pool, does);
    let woken = [pool.submit(queue), other.join().unwrap()];
    assert!(
        woken != [false; 2],
        "a task is there and its processor sleeps"
    );
    assert!(woken != [true; 2], "two are woken where one would do");
}

#[test]
fn stage_3_a_producer_and_a_sleeper_see_each_other() {
    Bound::exhaustive(30).check_and_refute(
        "sleep 3: register, fence, look",
        |bug| submit_beside(bug, 0, 0, Pool::go_idle),
        &[
            // Each has read the value before the other's store.
            (Bug::ProducerWithoutFence, "its processor sleeps"),
            (Bug::SleeperWithoutFence, "its processor sleeps"),
            // The task comes between the look and the registration. No fence helps.
            (Bug::LooksFirst, "its processor sleeps"),
            (Bug::LooksAtOneQueue, "its processor sleeps"),
        ],
    );
}

/// One searches, and one is idle. The searcher has found a task; a producer has another one, and
/// relies on the searcher if it sees it.
#[test]
fn stage_4_the_last_searcher_looks_again() {
    Bound::exhaustive(30).check_and_refute(
        "sleep 4: the last searcher wakes the next",
        |bug| submit_beside(bug, SEARCHING + 1, 0, Pool::stop_searching),
        &[(Bug::JustRuns, "its processor sleeps")],
    );
}

/// Two are idle, and two producers come.
#[test]
fn exercise_4_one_that_is_woken_counts_at_once() {
    Bound::exhaustive(7).check_and_refute(
        "sleep 4: two producers wake one",
        |bug| submit_beside(bug, 2, 0, |pool| pool.submit(1)),
        &[(Bug::CountsItself, "two are woken")],
    );
}
