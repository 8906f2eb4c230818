//! Mixtures that keep a pool busy during a measurement: its own processes, or threads outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::callers::{Wait, keep_calling};

use super::newcomer::{BACKLOG, FLOODED};
use super::shares::{FLOOD, keep_under_way};

use super::{CALL, CALLS, Over};
use crate::pools::{BlockingPool, Pool};
use crate::work::Work;

/// All that is busy at a time.
#[derive(Clone)]
pub(crate) struct Mixture {
    /// Read after "beside".
    pub(crate) name: &'static str,
    busy: Vec<Busy>,
    /// The time from one message to the next, which this mixture needs to get over one.
    pub(crate) period: Duration,
}

/// The kind of busy work.
#[derive(Clone, Copy)]
enum Busy {
    /// Processes that yield after each step.
    Yielders(usize, Work),
    /// Pairs that pass a message to and fro, with a step for each way.
    Pairs(usize, Work),
    /// Processes with more messages than they get through, and a step for each.
    Flooded(Work),
    /// Tasks from outside, of which there are always some.
    Flood(Work),
    /// A thread outside that waits for one task after the other, and is busy for so long between
    /// them.
    Caller(Option<Duration>),
}

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_millis(5);

impl Mixture {
    fn new(name: &'static str, busy: impl Into<Vec<Busy>>, period: Duration) -> Self {
        Self {
            name,
            busy: busy.into(),
            period,
        }
    }

    /// Makes a mixture of nothing.
    pub(crate) fn quiet(period: Duration) -> Self {
        Self::new("nothing", [], period)
    }

    /// Makes the mixtures of processes that never rest.
    pub(crate) fn of_processes() -> [Self; 5] {
        use Busy::{Pairs, Yielders};
        let long = Work::micros(50);
        [
            Self::new("4 yielders of 50 us", [Yielders(4, long)], SHORT),
            Self::new("64 yielders of 50 us", [Yielders(64, long)], SHORT),
            Self::new("64 pairs of 5 us", [Pairs(64, Work::micros(5))], SHORT),
            Self::new("8 pairs of 500 us", [Pairs(8, Work::micros(500))], LONG),
            Self::new(
                "8 yielders of 50 us and 8 pairs of 5 us",
                [Yielders(8, long), Pairs(8, Work::micros(5))],
                SHORT,
            ),
        ]
    }

    /// Makes the mixtures of what threads outside want, beside processes or alone.
    pub(crate) fn from_outside() -> [Self; 5] {
        use Busy::{Caller, Flood, Flooded, Pairs};
        let pause = Some(Duration::from_micros(50));
        [
            Self::new(
                "16 pairs of 5 us and a flood of 20 us from outside",
                [Pairs(16, Work::micros(5)), Flood(Work::micros(20))],
                SHORT,
            ),
            Self::new(
                "16 flooded, 20 us a message",
                [Flooded(Work::micros(20))],
                SHORT,
            ),
            Self::new(
                "16 flooded, 200 us a message",
                [Flooded(Work::micros(200))],
                SHORT,
            ),
            Self::new(
                "a pair of 20 us and a caller",
                [Pairs(1, Work::micros(20)), Caller(pause)],
                SHORT,
            ),
            Self::new(
                "a pair of 20 us and a restless caller",
                [Pairs(1, Work::micros(20)), Caller(None)],
                SHORT,
            ),
        ]
    }

    /// Keeps the pool busy until it is over.
    pub(crate) fn keep_busy<P: Pool>(&self, pool: &P, over: &Over) {
        thread::scope(|scope| {
            for &busy in &self.busy {
                scope.spawn(move || busy.keep(pool, over));
            }
        });
    }
}

impl Busy {
    /// Returns when the pool needs no thread outside for it.
    fn keep<P: Pool>(self, pool: &P, over: &Over) {
        let step = |work: Work| {
            let over = over.clone();
            move || {
                work.run();
                over.not_yet()
            }
        };
        match self {
            Self::Yielders(count, work) => (0..count).for_each(|_| pool.yielder(step(work))),
            Self::Pairs(count, work) => (0..count).for_each(|_| pool.pair(step(work))),
            Self::Flooded(work) => {
                (0..FLOODED).for_each(|_| pool.flooded(BACKLOG, step(work)));
            }
            Self::Flood(work) => {
                let ran = Arc::new(AtomicU64::new(0));
                let spawn = || {
                    let ran = Arc::clone(&ran);
                    pool.spawn(move || {
                        work.run();
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                };
                let ended = || ran.load(Ordering::Relaxed);
                keep_under_way(FLOOD, spawn, ended, || over.not_yet());
            }
            Self::Caller(pause) => {
                let how = (Wait::Execute, pause);
                keep_calling(pool, &pool.callee(), how, || over.not_yet());
            }
        }
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
    keep_under_way(CALLS as u64, call, ended, || over.not_yet());
}
