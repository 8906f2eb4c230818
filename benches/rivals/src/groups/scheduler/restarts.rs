//! A supervisor that restarts a child as often as it fails, beside what such work needs at least: a
//! process that is linked to what it submits.
//!
//! No rival: actix's supervisor has the same actor go on in the same place, and restarts nothing.

use std::time::Duration;

use filch_scheduler::{Context, Event, Events, Handle, StepOutput, from_fn};
use filch_supervisor::{Child, Restart, Strategy, Supervisor};

use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::{Filch, Of, TIMERS, TOTAL, Threads};

pub(super) fn scenario(restarts: u64) -> Scenario {
    Scenario::new("restart of a crashed child", "ns per process")
        .contender("filch-supervisor", restarting(restarts))
        .floor("a link, by hand", by_hand(restarts))
}

/// A process that submits so many others, which are linked to it: the next one when it is told that
/// the last one has failed.
fn by_hand(times: u64) -> impl FnMut() -> f64 {
    keeping(Filch::here, move |scheduler| {
        let mut left = times;
        let submitter = from_fn(
            move |context: &Context<'_, Of<u64>>,
                  events: Events<'_, _>,
                  out: &mut StepOutput<_>| {
                let is_first = left == times;
                let has_failed = |event| matches!(event, Event::Exited(_));
                if left == 0 {
                    out.done(0);
                } else if events.into_iter().any(has_failed) || is_first {
                    left -= 1;
                    let process = from_fn(|_, _, _| Err(String::new()));
                    let submission = context.handle().submission(process, "run", ());
                    let submitted = submission.linked_to(context.pid()).submit();
                    drop(submitted.map_err(|error| error.to_string())?);
                }
                Ok(())
            },
        );
        cost(times, || {
            let submission = scheduler.submission(submitter, "run", ());
            let submitter = submission.trap_exits().submit();
            let submitter = submitter.unwrap_or_else(|error| panic!("{error}"));
            submitter.join().unwrap_or_else(|error| panic!("{error}"));
        })
    })
}

/// The first lives of a child fail in their first step, the last one is done.
fn restarting(times: u64) -> impl FnMut() -> f64 {
    keeping(Filch::here, move |scheduler| {
        cost(times, || {
            TOTAL.expect(1);
            let mut left = times;
            let child = Child::unnamed(move |scheduler: &Handle<Of<u64>>| {
                let fails = left > 0;
                left = left.saturating_sub(1);
                let process = from_fn(move |_, _, out: &mut StepOutput<_>| {
                    if fails {
                        return Err(String::new());
                    }
                    TOTAL.add(1);
                    out.done(0);
                    Ok(())
                });
                scheduler.submission(process, "run", ())
            });
            // Nothing that has happened is counted any more when the next thing happens.
            let supervisor = Supervisor::new(Strategy::OneForOne)
                .intensity(usize::MAX, Duration::ZERO)
                .child(child.restart(Restart::Transient));
            let started = supervisor.start(scheduler, &TIMERS);
            let supervisor = started.and_then(filch_supervisor::Answer::wait);
            let supervisor = supervisor.expect("its child starts");
            TOTAL.wait();
            supervisor.stop().wait().expect("it is asked to");
        })
    })
}
