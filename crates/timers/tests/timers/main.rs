//! Timers from the outside: on a clock that the test moves wherever that is possible. Nothing here
//! sleeps or measures.

use std::time::Duration;

use filch_timers::{FakeClock, Timers};

mod clocks;
mod firing;
mod shutdown;
mod sleeping;

const SECOND: Duration = Duration::from_secs(1);

fn fake() -> (FakeClock, Timers) {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    (clock, timers)
}
