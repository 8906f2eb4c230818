//! Fork/join in miniature, with one step left out or out of place, which the models must catch.
//! Each model is there twice: it must hold where nothing is wrong.
//!
//! A sleep is a flag, and a wake-up takes it down. No lock: the table of a bug has a row less for
//! each.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::cell::UnsafeCell;

/// The bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
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
#[test]
fn a_thief_beside_a_sleeper() {
    Bound::exhaustive(5).check_and_refute(
        "latch: begin, finish and sleep are exchanges",
        |bug| {
            let toy = Toy::new(bug);
            let thief = beside(&toy, |toy| {
                toy.begin();
                // SAFETY: the claim.
                toy.result.with_mut(|result| unsafe { *result = 7 });
                toy.finish()
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
        },
        &[
            // The owner goes to sleep between the look and the store, which overwrites what it
            // says.
            (Bug::FinishByStore, "nobody wakes the owner"),
            // The owner has gone to sleep before the thief begins, which overwrites what it says.
            (Bug::BeginByStore, "nobody wakes the owner"),
            // The owner sees that the job is done, and not what came of it.
            (Bug::RelaxedFinish, "Causality violation"),
        ],
    );
}

/// Joiners, and work.
#[derive(Default)]
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
            ..Self::default()
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
#[test]
fn a_publication_beside_a_sleeper() {
    Bound::exhaustive(10).check_and_refute(
        "joiner: announce, fence, look; publish, fence, choose",
        |bug| {
            let pool = Pool::new(bug);
            let publisher = beside(&pool, |pool| pool.publish().is_some());
            let looked = bug == Bug::NoSecondLook && pool.has_work();
            pool.announce(0);
            let sees = looked || bug != Bug::NoSecondLook && pool.has_work();
            let is_chosen = publisher.join().unwrap();
            assert!(sees || is_chosen, "asleep beside work");
        },
        &[
            // The work comes between the look and the announcement.
            (Bug::NoSecondLook, "asleep beside work"),
            // Its announcement is still on its way when it looks.
            (Bug::SleeperUnfenced, "asleep beside work"),
            // The work is still on its way when its publisher looks.
            (Bug::PublisherUnfenced, "asleep beside work"),
        ],
    );
}

/// Three threads: one joiner sleeps, another one is about to. Two publish, and each chooses one.
#[test]
fn two_choices() {
    Bound::exhaustive(100).check_and_refute(
        "joiner: counted, then flagged",
        |bug| {
            let pool = Pool::new(bug);
            pool.announce(1);
            let coming = beside(&pool, |pool| pool.announce(0));
            let choosing = beside(&pool, Pool::choose);
            let chosen = [pool.choose(), choosing.join().unwrap()];
            coming.join().unwrap();
            let all_found_one = chosen.iter().all(Option::is_some);
            assert!(all_found_one || chosen.contains(&Some(1)), "overlooked");
        },
        // The newcomer is chosen and counted off before it is counted. The second publisher reads
        // that nobody sleeps, while one does.
        &[(Bug::CountedLate, "overlooked")],
    );
}

/// Three threads: a joiner sleeps; its job is done, and work is published, which is the joiner's to
/// look for if it is chosen, and otherwise the host's.
#[test]
fn chosen_and_done() {
    Bound::exhaustive(10).check_and_refute(
        "joiner: one that was chosen looks, or chooses another",
        |bug| {
            let pool = Pool::new(bug);
            pool.announce(0);
            let thief = beside(&pool, |pool| pool.is_done.store(true, Ordering::Release));
            let tell = |pool: &Pool| pool.told.store(true, Ordering::Relaxed);
            let publisher = beside(&pool, move |pool| {
                if pool.publish().is_none() {
                    tell(pool);
                }
            });
            let is_done = || pool.is_done.load(Ordering::Acquire);
            let is_chosen = !pool.take_down(0);
            if bug == Bug::PassesOnTooEarly {
                if is_chosen && is_done() {
                    tell(&pool);
                }
                if !is_done() {
                    // It waits on, and looks.
                    tell(&pool);
                }
            } else if is_chosen {
                // It looks, or it is done and passes the choice on.
                tell(&pool);
            }
            thief.join().unwrap();
            publisher.join().unwrap();
            let is_told = pool.told.load(Ordering::Relaxed);
            assert!(is_told, "nobody looks for the work");
        },
        // Its job is done between the two looks: it neither searches nor passes the choice on.
        &[(Bug::PassesOnTooEarly, "nobody looks for the work")],
    );
}
