//! Fork/join in miniature, with one step left out or out of place, which the models must catch.
//! Each model is there twice: it must hold where nothing is wrong.
//!
//! A sleep is a flag, and a wake-up takes it down: a real deadlock makes loom abort the process,
//! and a test could not tell what it caught.
#![cfg(loom)]

use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

/// The bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The thief looks whether the owner sleeps, and then says by a store that it is done.
    FinishByStore,
    /// The thief says by a store that it has begun.
    BeginByStore,
    /// The thief does not release its result.
    RelaxedFinish,
    /// A joiner looks for work, then says that it sleeps, and does not look again.
    NoSecondLook,
    /// A joiner has no fence between its word and its look.
    SleeperUnfenced,
    /// A publisher has no fence between the work and its look.
    PublisherUnfenced,
    /// A joiner raises its flag, and is counted after that.
    CountedLate,
    /// A joiner that was chosen asks whether its job is done, and passes the choice on if so; then
    /// it asks again, and leaves.
    PassesOnTooEarly,
}

const DONE: u64 = 1;
const SLEEPS: u64 = 2;
const BEGUN: u64 = 4;

/// A latch, and a result.
struct Toy {
    bug: Bug,
    word: AtomicU64,
    result: UnsafeCell<u32>,
}

// SAFETY: that the result is touched in turns is what the models claim.
unsafe impl Sync for Toy {}
// SAFETY: as above.
unsafe impl Send for Toy {}

impl Toy {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            word: AtomicU64::new(0),
            result: UnsafeCell::new(0),
        })
    }

    fn begin(&self) {
        if self.bug == Bug::BeginByStore {
            self.word.store(BEGUN, Ordering::Release);
        } else {
            self.word.fetch_or(BEGUN, Ordering::Release);
        }
    }

    /// Finishes the job; returns whether the owner is woken.
    fn finish(&self) -> bool {
        let before = match self.bug {
            Bug::FinishByStore => {
                let before = self.word.load(Ordering::Acquire);
                self.word.store(DONE, Ordering::Release);
                before
            }
            Bug::RelaxedFinish => self.word.swap(DONE, Ordering::Relaxed),
            _ => self.word.swap(DONE, Ordering::AcqRel),
        };
        before & SLEEPS != 0
    }

    /// Sends the owner to sleep; returns whether it sleeps.
    fn sleep(&self) -> bool {
        self.word
            .fetch_update(Ordering::Release, Ordering::Relaxed, |word| {
                (word != DONE).then_some(word | SLEEPS)
            })
            .is_ok()
    }
}

/// Two threads: a thief beside an owner that goes to sleep at once. The owner wakes if the thief
/// says so.
fn a_thief_beside_a_sleeper(bug: Bug) {
    let toy = Toy::new(bug);
    let thief = thread::spawn({
        let toy = Arc::clone(&toy);
        move || {
            toy.begin();
            // SAFETY: the claim.
            toy.result.with_mut(|result| unsafe { *result = 7 });
            toy.finish()
        }
    });
    let sleeps = toy.sleep();
    if !sleeps {
        assert_eq!(toy.word.load(Ordering::Acquire), DONE);
        // SAFETY: as above.
        let result = toy.result.with(|result| unsafe { *result });
        assert_eq!(result, 7);
    }
    let is_woken = thief.join().unwrap();
    assert_eq!(sleeps, is_woken, "nobody wakes the owner");
}

/// The control.
#[test]
fn a_thief_beside_a_sleeper_without_a_bug() {
    check(
        "latch: begin, finish and sleep are exchanges",
        Bound::exhaustive(5),
        || a_thief_beside_a_sleeper(Bug::None),
    );
}

/// The owner goes to sleep between the look and the store, which overwrites what it says.
#[test]
fn a_finish_by_store() {
    refute(
        "latch: finish looks, then stores",
        "nobody wakes the owner",
        Bound::exhaustive(2),
        || a_thief_beside_a_sleeper(Bug::FinishByStore),
    );
}

/// The owner has gone to sleep before the thief begins, which overwrites what it says.
#[test]
fn a_begin_by_store() {
    refute(
        "latch: begin stores",
        "nobody wakes the owner",
        Bound::exhaustive(2),
        || a_thief_beside_a_sleeper(Bug::BeginByStore),
    );
}

/// The owner sees that the job is done, and not what came of it.
#[test]
fn a_finish_that_releases_nothing() {
    refute(
        "latch: finish is relaxed",
        "Causality violation",
        Bound::exhaustive(2),
        || a_thief_beside_a_sleeper(Bug::RelaxedFinish),
    );
}

/// Joiners, and work.
struct Pool {
    bug: Bug,
    work: AtomicBool,
    count: AtomicUsize,
    flags: [AtomicBool; 2],
    is_done: AtomicBool,
    /// The host was told of the work.
    told: AtomicBool,
}

impl Pool {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            work: AtomicBool::new(false),
            count: AtomicUsize::new(0),
            flags: [AtomicBool::new(false), AtomicBool::new(false)],
            is_done: AtomicBool::new(false),
            told: AtomicBool::new(false),
        })
    }

    fn announce(&self, joiner: usize) {
        if self.bug == Bug::CountedLate {
            self.flags[joiner].swap(true, Ordering::Relaxed);
            self.count.fetch_add(1, Ordering::Relaxed);
        } else {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.flags[joiner].swap(true, Ordering::Release);
        }
        if self.bug != Bug::SleeperUnfenced {
            fence(Ordering::SeqCst);
        }
    }

    fn take_down(&self, joiner: usize) -> bool {
        let flag = &self.flags[joiner];
        let taken = flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Acquire);
        if taken {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }

    fn choose(&self) -> Option<usize> {
        if self.bug != Bug::PublisherUnfenced {
            fence(Ordering::SeqCst);
        }
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        (0..2).find(|joiner| self.take_down(*joiner))
    }

    fn publish(&self) -> Option<usize> {
        self.work.store(true, Ordering::Relaxed);
        self.choose()
    }

    fn has_work(&self) -> bool {
        self.work.load(Ordering::Relaxed)
    }
}

/// Two threads: one publishes, and one that waits goes to sleep unless it sees that.
fn a_publication_beside_a_sleeper(bug: Bug) {
    let pool = Pool::new(bug);
    let publisher = thread::spawn({
        let pool = Arc::clone(&pool);
        move || pool.publish().is_some()
    });
    let sees = match bug {
        Bug::NoSecondLook => {
            let sees = pool.has_work();
            pool.announce(0);
            sees
        }
        _ => {
            pool.announce(0);
            pool.has_work()
        }
    };
    let is_chosen = publisher.join().unwrap();
    assert!(sees || is_chosen, "asleep beside work");
}

/// The control.
#[test]
fn a_publication_beside_a_sleeper_without_a_bug() {
    check(
        "joiner: announce, fence, look; publish, fence, choose",
        Bound::exhaustive(10),
        || a_publication_beside_a_sleeper(Bug::None),
    );
}

/// The work comes between the look and the announcement.
#[test]
fn a_joiner_that_does_not_look_again() {
    refute(
        "joiner: look, then announce",
        "asleep beside work",
        Bound::exhaustive(2),
        || a_publication_beside_a_sleeper(Bug::NoSecondLook),
    );
}

/// Its announcement is still on its way when it looks.
#[test]
fn a_sleeper_without_a_fence() {
    refute(
        "joiner: announce, look, no fence between",
        "asleep beside work",
        Bound::exhaustive(2),
        || a_publication_beside_a_sleeper(Bug::SleeperUnfenced),
    );
}

/// The work is still on its way when its publisher looks.
#[test]
fn a_publisher_without_a_fence() {
    refute(
        "publisher: publish, look, no fence between",
        "asleep beside work",
        Bound::exhaustive(2),
        || a_publication_beside_a_sleeper(Bug::PublisherUnfenced),
    );
}

/// Three threads: one joiner sleeps, another one is about to. Two publish, and each chooses one.
fn two_choices(bug: Bug) {
    let pool = Pool::new(bug);
    pool.announce(1);
    let coming = thread::spawn({
        let pool = Arc::clone(&pool);
        move || pool.announce(0)
    });
    let choosing = thread::spawn({
        let pool = Arc::clone(&pool);
        move || pool.choose()
    });
    let chosen = [pool.choose(), choosing.join().unwrap()];
    coming.join().unwrap();
    let all_found_one = chosen.iter().all(Option::is_some);
    assert!(all_found_one || chosen.contains(&Some(1)), "overlooked");
}

/// The control.
#[test]
fn two_choices_without_a_bug() {
    check(
        "joiner: counted, then flagged",
        Bound::exhaustive(100),
        || two_choices(Bug::None),
    );
}

/// The newcomer is chosen and counted off before it is counted. The second publisher reads that
/// nobody sleeps, while one does.
#[test]
fn a_sleeper_that_is_counted_late() {
    refute(
        "joiner: flagged, then counted",
        "overlooked",
        Bound::exhaustive(2),
        || two_choices(Bug::CountedLate),
    );
}

/// Three threads: a joiner sleeps; its job is done, and work is published, which is the joiner's to
/// look for if it is chosen, and otherwise the host's.
fn chosen_and_done(bug: Bug) {
    let pool = Pool::new(bug);
    pool.announce(0);
    let thief = thread::spawn({
        let pool = Arc::clone(&pool);
        move || pool.is_done.store(true, Ordering::Release)
    });
    let publisher = thread::spawn({
        let pool = Arc::clone(&pool);
        move || {
            if pool.publish().is_none() {
                pool.told.store(true, Ordering::Relaxed);
            }
        }
    });
    let is_done = || pool.is_done.load(Ordering::Acquire);
    let is_chosen = !pool.take_down(0);
    if bug == Bug::PassesOnTooEarly {
        if is_chosen && is_done() {
            pool.told.store(true, Ordering::Relaxed);
        }
        if !is_done() {
            // It waits on, and looks.
            pool.told.store(true, Ordering::Relaxed);
        }
    } else if is_chosen {
        // It looks, or it is done and passes the choice on.
        pool.told.store(true, Ordering::Relaxed);
    }
    thief.join().unwrap();
    publisher.join().unwrap();
    let is_told = pool.told.load(Ordering::Relaxed);
    assert!(is_told, "nobody looks for the work");
}

/// The control.
#[test]
fn chosen_and_done_without_a_bug() {
    check(
        "joiner: one that was chosen looks, or chooses another",
        Bound::exhaustive(10),
        || chosen_and_done(Bug::None),
    );
}

/// Its job is done between the two looks: it neither searches nor passes the choice on.
#[test]
fn a_choice_that_is_passed_on_too_early() {
    refute(
        "joiner: asks twice whether it is done",
        "nobody looks for the work",
        Bound::exhaustive(2),
        || chosen_and_done(Bug::PassesOnTooEarly),
    );
}
