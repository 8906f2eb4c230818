//! A supervisor that restarts a child as often as it fails, beside what such work needs at least: a
//! process that submits others, and one that is linked to what it submits.
//!
//! No rival: actix's supervisor has the same actor go on in the same place, and restarts nothing.

use std::cell::LazyCell;
use std::time::Duration;

use filch_actors::timers::Timers;
use filch_scheduler::{Context, Event, Handle, Process, from_fn};
use filch_supervisor::{Child, Restart, Strategy, Supervisor};

use super::contenders::{Filch, Numbers};
use super::inside::inside;
use super::{Spawner, TOTAL};
use crate::harness::{Effort, Scenario, per_operation, time};

pub(super) fn scenario(effort: Effort) -> Scenario {
    let restarts = effort.operations(400_000);
    Scenario::new("restart of a crashed child", "ns per process")
        .contender("filch-supervisor", restarting(restarts))
        .floor("a link, by hand", one_by_one(restarts, linked))
        .floor("submit, one by one", one_by_one(restarts, submitting))
        .floor("submit, all at once", inside::<Filch>(effort.operations(8)))
}

/// A process that submits so many others, one after another.
fn one_by_one<P: Process<Numbers> + 'static>(
    times: u64,
    submitter: impl Fn(u64) -> P + 'static,
) -> impl FnMut() -> f64 {
    let scheduler = LazyCell::new(Filch::new);
    move || {
        let elapsed = time(|| {
            let submission = scheduler.submission(submitter(times), "run", 0);
            let submitter = submission.trap_exits().submit();
            let submitter = submitter.unwrap_or_else(|error| panic!("{error}"));
            submitter.join().unwrap_or_else(|error| panic!("{error}"));
        });
        per_operation(elapsed, times)
    }
}

/// Gives way to each process that it submits.
fn submitting(mut left: u64) -> impl Process<Numbers> {
    from_fn(move |context: &Context<'_, Numbers>, _, out| {
        if left == 0 {
            out.done(0);
            return Ok(());
        }
        left -= 1;
        let process = from_fn(|_, _, out| {
            out.done(0);
            Ok(())
        });
        let submitted = context.handle().submit(process, "run", 0);
        drop(submitted.map_err(|error| error.to_string())?);
        out.go_on();
        Ok(())
    })
}

/// Submits the next process when it is told that the last one has failed.
fn linked(mut left: u64) -> impl Process<Numbers> {
    from_fn(move |context: &Context<'_, Numbers>, events, out| {
        let is_first = events.len() == 0;
        let has_failed = events
            .into_iter()
            .any(|event| matches!(event, Event::Exited(_)));
        if left == 0 {
            out.done(0);
        } else if is_first || has_failed {
            left -= 1;
            let process = from_fn(|_, _, _| Err(String::new()));
            let submission = context.handle().submission(process, "run", 0);
            let submitted = submission.linked_to(context.pid()).submit();
            drop(submitted.map_err(|error| error.to_string())?);
        }
        Ok(())
    })
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
