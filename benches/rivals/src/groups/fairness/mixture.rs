//! Mixtures that keep a pool busy during a measurement: its own processes, or threads outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::Kind::{Caller, Flood, Flooded, Pairs, Yielders};
use super::Over;
use crate::pools::{BlockingPool, Pool};
use crate::work::Work;

/// Processes with more messages than they get through.
const FLOODED: usize = 16;

/// Messages that each of them has at any time: more than any contender handles in one turn.
const BACKLOG: u64 = 2000;

/// Tasks from outside that are under way at a time: more than there is time for.
const FLOOD: u64 = 200;

/// Blocking calls at once: more than the threads that a pool may have.
pub(super) const CALLS: u64 = 700;

/// The length of each of them.
pub(super) const CALL: Duration = Duration::from_millis(100);

/// Busy work, in steps of the same length.
#[derive(Clone, Copy)]
pub(super) struct Busy {
    kind: Kind,
    pub(super) step: Work,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Processes that yield after each step.
    Yielders(usize),
    /// Pairs that pass a message to and fro, with a step for each way.
    Pairs(usize),
    /// Processes with more messages than they get through, and a step for each.
    Flooded,
    /// Tasks from outside, of which there are always some.
    Flood,
    /// A thread outside that waits for one task after the other, and is busy for so long between
    /// them. It takes no steps.
    Caller(Option<Duration>),
}

impl Busy {
    pub(super) fn of(kind: Kind, micros: u64) -> Self {
        let step = Work::micros(micros);
        Self { kind, step }
    }

    /// Keeps the pool busy until it is over. Returns when the pool needs no thread outside for it.
    pub(super) fn keep<P: Pool>(self, pool: &P, steps: &Steps) {
        let step = || {
            let steps = steps.clone();
            move || steps.take()
        };
        let goes_on = || steps.over.not_yet();
        match self.kind {
            Yielders(count) => (0..count).for_each(|_| pool.yielder(step())),
            Pairs(count) => (0..count).for_each(|_| pool.pair(step())),
            Flooded => (0..FLOODED).for_each(|_| pool.flooded(BACKLOG, step())),
            Flood => {
                let spawn = || {
                    let step = step();
                    pool.spawn(move || _ = step());
                };
                keep_under_way(FLOOD, spawn, || steps.taken(), goes_on);
            }
            Caller(pause) => {
                while goes_on() {
                    pool.execute();
                    let called = Instant::now();
                    while pause.is_some_and(|pause| called.elapsed() < pause) {
                        std::hint::spin_loop();
                    }
                }
            }
        }
    }
}

/// Counts steps.
#[derive(Clone)]
pub(super) struct Steps {
    work: Work,
    taken: Arc<AtomicU64>,
    over: Over,
}

impl Steps {
    pub(super) fn of(busy: Busy, over: &Over) -> Self {
        Self {
            work: busy.step,
            taken: Arc::default(),
            over: over.clone(),
        }
    }

    /// Takes a step; returns whether another follows.
    fn take(&self) -> bool {
        self.work.run();
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.over.not_yet()
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// All that is busy at a time.
#[derive(Clone)]
pub(crate) struct Mixture {
    /// Read after "beside".
    pub(crate) name: &'static str,
    busy: Vec<Busy>,
    /// The time from one message to the next, which this mixture needs to get over one.
    pub(crate) period: Duration,
}

impl Mixture {
    fn new(name: &'static str, busy: impl Into<Vec<Busy>>) -> Self {
        Self {
            name,
            busy: busy.into(),
            period: Duration::from_millis(2),
        }
    }

    /// Makes a mixture of nothing.
    pub(crate) fn quiet() -> Self {
        Self::new("nothing", [])
    }

    /// Makes the mixtures of processes that never rest.
    pub(crate) fn of_processes() -> [Self; 5] {
        let long = Self::new("8 pairs of 500 us", [Busy::of(Pairs(8), 500)]);
        [
            Self::new("4 yielders of 50 us", [Busy::of(Yielders(4), 50)]),
            Self::new("64 yielders of 50 us", [Busy::of(Yielders(64), 50)]),
            Self::new("64 pairs of 5 us", [Busy::of(Pairs(64), 5)]),
            Self {
                period: Duration::from_millis(5),
                ..long
            },
            Self::new(
                "8 yielders of 50 us and 8 pairs of 5 us",
                [Busy::of(Yielders(8), 50), Busy::of(Pairs(8), 5)],
            ),
        ]
    }

    /// Makes the mixtures of what threads outside want, beside processes or alone.
    pub(crate) fn from_outside() -> [Self; 5] {
        let pause = Some(Duration::from_micros(50));
        let pair = Busy::of(Pairs(1), 20);
        [
            Self::new(
                "16 pairs of 5 us and a flood of 20 us from outside",
                [Busy::of(Pairs(16), 5), Busy::of(Flood, 20)],
            ),
            Self::new("16 flooded, 20 us a message", [Busy::of(Flooded, 20)]),
            Self::new("16 flooded, 200 us a message", [Busy::of(Flooded, 200)]),
            Self::new(
                "a pair of 20 us and a caller",
                [pair, Busy::of(Caller(pause), 0)],
            ),
            Self::new(
                "a pair of 20 us and a restless caller",
                [pair, Busy::of(Caller(None), 0)],
            ),
        ]
    }

    /// Keeps the pool busy until it is over.
    pub(crate) fn keep_busy<P: Pool>(&self, pool: &P, over: &Over) {
        thread::scope(|scope| {
            for &busy in &self.busy {
                scope.spawn(move || busy.keep(pool, &Steps::of(busy, over)));
            }
        });
    }
}

/// The name of what [`keep_blocking`] keeps, as it is read after "beside".
pub(crate) const BLOCKING: &str = "700 blocking calls of 100 ms";

/// Keeps more blocking calls under way than a pool has threads for, until it is over.
pub(crate) fn keep_blocking<P: BlockingPool>(pool: &P, over: &Over) {
    let returned = Arc::new(AtomicU64::new(0));
    let call = || {
        let returned = Arc::clone(&returned);
        pool.spawn_blocking(move || {
            thread::sleep(CALL);
            returned.fetch_add(1, Ordering::Relaxed);
        });
    };
    let ended = || returned.load(Ordering::Relaxed);
    keep_under_way(CALLS, call, ended, || over.not_yet());
}

/// Makes one more whenever fewer than `count` of those that it has made have not ended.
fn keep_under_way(
    count: u64,
    make: impl Fn(),
    ended: impl Fn() -> u64,
    goes_on: impl Fn() -> bool,
) {
    let mut made = 0;
    while goes_on() {
        while made - ended() < count {
            make();
            made += 1;
        }
        // A spinner would take the time that is shared here.
        thread::sleep(Duration::from_micros(100));
    }
}
