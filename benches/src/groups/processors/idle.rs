//! The cost of a pool that has nothing to do, or next to nothing: the processor time of the whole
//! process, in per cent of one core.
//!
//! The load generator's clock is `thread::sleep`: it does not wait for its tasks, so no figure is a
//! latency.

use std::thread;
use std::time::Duration;

use super::{Async, Boxed, Plain, Pool, Rayon, TOTAL, Tokio};
use crate::harness::{Effort, Scenario};
use crate::processor_time::load;
use crate::rivals::WORKERS;
use crate::total::sum_to;

/// The time from task to task.
const TICK: Duration = Duration::from_millis(1);

/// Long enough for spinners to go to sleep.
const GRACE: Duration = Duration::from_millis(20);

pub(super) fn scenarios(effort: Effort) -> [Scenario; 2] {
    // About a second each in a full run: sleeps last longer than they are told to.
    let (second, ticks) = (effort.operations(1_000), effort.operations(500));
    [
        Scenario::new("an idle pool", "% of a core")
            .contender("filch-processors", idle::<Plain>(second))
            .contender("rayon", idle::<Rayon>(second))
            .contender("tokio", idle::<Tokio>(second))
            .contender("async-executor", idle::<Async>(second)),
        Scenario::new("a task per millisecond", "% of a core")
            .floor("the clock alone", ticking::<Caller>(ticks))
            .contender("filch-processors", ticking::<Plain>(ticks))
            .contender("filch-processors, boxed", ticking::<Boxed>(ticks))
            .contender("rayon", ticking::<Rayon>(ticks))
            .contender("tokio", ticking::<Tokio>(ticks))
            .contender("async-executor", ticking::<Async>(ticks)),
    ]
}

/// The caller runs the task.
struct Caller;

impl Pool for Caller {
    fn new(_workers: usize) -> Self {
        Self
    }

    fn spawn(&self, number: u64) {
        TOTAL.add(number);
    }

    fn grow(&self, _depth: u32) {}
}

/// A new pool for each round: the other contenders' pools do not exist meanwhile, not even asleep.
fn ready<P: Pool>() -> P {
    let pool = P::new(WORKERS);
    TOTAL.expect(1);
    pool.spawn(1);
    TOTAL.wait();
    thread::sleep(GRACE);
    pool
}

fn idle<P: Pool>(milliseconds: u64) -> impl FnMut() -> f64 {
    move || {
        let _pool = ready::<P>();
        load(|| thread::sleep(Duration::from_millis(milliseconds)))
    }
}

fn ticking<P: Pool>(ticks: u64) -> impl FnMut() -> f64 {
    move || {
        let pool = ready::<P>();
        load(|| {
            TOTAL.expect(sum_to(ticks));
            for number in 1..=ticks {
                thread::sleep(TICK);
                pool.spawn(number);
            }
            TOTAL.wait();
        })
    }
}
