//! A supervisor that restarts a child as often as it fails, beside a process that submits others.
//!
//! No rival: actix's supervisor has the same actor go on in the same place, and restarts nothing.

use std::cell::LazyCell;
use std::time::Duration;

use filch_scheduler::timers::Timers;
use filch_scheduler::{Handle, from_fn};
use filch_supervisor::{Child, Restart, Strategy, Supervisor};

use super::contenders::{Filch, Numbers};
use super::inside::inside;
use super::{Spawner, TOTAL};
use crate::harness::{Effort, Scenario, per_operation, time};

pub(super) fn scenario(effort: Effort) -> Scenario {
    let restarts = effort.operations(400_000);
    Scenario::new("restart of a crashed child", "ns per process")
        .contender("filch-supervisor", restarting(restarts))
        .floor("submit from inside", inside::<Filch>(effort.operations(8)))
}

/// The first lives of a child fail in their first step, the last one is done.
fn restarting(times: u64) -> impl FnMut() -> f64 {
    let stage = LazyCell::new(|| {
        let timers = Timers::new().expect("the system gives a thread");
        (Filch::new(), timers)
    });
    move || {
        let (scheduler, timers) = &*stage;
        let elapsed = time(|| {
            TOTAL.expect(1);
            let mut left = times;
            let child = Child::unnamed(move |scheduler: &Handle<Numbers>| {
                let fails = left > 0;
                left = left.saturating_sub(1);
                let process = from_fn(move |_, _, out| {
                    if fails {
                        return Err(String::new());
                    }
                    TOTAL.add(1);
                    out.done(0);
                    Ok(())
                });
                scheduler.submission(process, "run", 0)
            });
            // Nothing that has happened is counted any more when the next thing happens.
            let supervisor = Supervisor::new(Strategy::OneForOne)
                .intensity(usize::MAX, Duration::ZERO)
                .child(child.restart(Restart::Transient));
            let started = supervisor.start(scheduler, timers);
            let supervisor = started.and_then(filch_supervisor::Answer::wait);
            let supervisor = supervisor.expect("its child starts");
            TOTAL.wait();
            supervisor.stop().wait().expect("it is asked to");
        });
        per_operation(elapsed, times)
    }
}
