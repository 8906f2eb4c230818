//! "No task waits beside an idle processor", on real threads: as many tasks as processors, each of
//! which ends only when all have begun. After a lost wake-up one of them stays in a queue, and the
//! others wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use filch_processors::{Config, Processors, Runner};

/// Not a measure of speed: how long a test waits before it believes that a wake-up is lost.
const WATCHDOG: Duration = Duration::from_secs(60);

struct Meeting {
    begun: AtomicUsize,
    ended: AtomicUsize,
    parties: usize,
    lost: AtomicBool,
}

impl Meeting {
    fn new(parties: usize) -> Arc<Self> {
        Arc::new(Self {
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            parties,
            lost: AtomicBool::new(false),
        })
    }

    /// Waits until the counter has reached `n`, or a watchdog barks.
    fn wait(&self, counter: &AtomicUsize, n: usize) {
        let since = Instant::now();
        while counter.load(Ordering::Acquire) < n && !self.lost.load(Ordering::Relaxed) {
            if since.elapsed() > WATCHDOG {
                self.lost.store(true, Ordering::Relaxed);
            }
            std::thread::yield_now();
        }
    }

    fn assert_nothing_lost(&self) {
        assert!(
            !self.lost.load(Ordering::Relaxed),
            "a task waits beside an idle processor"
        );
    }
}

impl Runner<usize> for Meeting {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn run(&self, round: usize, _: &Arc<Processors<usize>>, (): &mut ()) {
        self.begun.fetch_add(1, Ordering::AcqRel);
        self.wait(&self.begun, (round + 1) * self.parties);
        self.ended.fetch_add(1, Ordering::AcqRel);
    }
}

/// Waits until every thread of the pool sleeps, as far as its statistics tell.
fn until_all_sleep(pool: &Processors<usize>) {
    let asleep = || {
        let stats = pool.stats();
        let parks: u64 = stats.iter().map(|processor| processor.parks).sum();
        let wake_ups: u64 = stats.iter().map(|processor| processor.wake_ups).sum();
        // They begin asleep.
        parks == wake_ups
    };
    while !asleep() {
        std::thread::yield_now();
    }
}

/// Rounds follow each other at once, or after all threads have gone to sleep.
#[test]
fn b6_all_meet() {
    for parties in [2, 4] {
        let meeting = Meeting::new(parties);
        let pool = Processors::new(Config::default().processors(parties)).unwrap();
        let machines = Processors::start(&pool, Arc::clone(&meeting)).unwrap();
        for round in 0..10_000 {
            (0..parties).for_each(|_| pool.inject(round));
            meeting.wait(&meeting.ended, (round + 1) * parties);
            meeting.assert_nothing_lost();
            if round % 16 == 0 {
                until_all_sleep(&pool);
            }
        }
        pool.stop();
        machines.join();
    }
}

/// One processor never spins: each task is published just as its thread goes to sleep.
#[test]
fn one_sleeper_and_one_producer() {
    let meeting = Meeting::new(1);
    let pool = Processors::new(Config::default().processors(1)).unwrap();
    let machines = Processors::start(&pool, Arc::clone(&meeting)).unwrap();
    for round in 0..100_000 {
        pool.inject(round);
        meeting.wait(&meeting.ended, round + 1);
        meeting.assert_nothing_lost();
        (0..round % 97).for_each(|_| std::hint::spin_loop());
    }
    pool.stop();
    machines.join();
}
