//! A job of a supervisor on a scheduler with one worker: it restarts a child that fails.

use std::sync::mpsc::channel;
use std::time::Duration;

use filch_actors::timers::Timers;
use filch_scheduler::{Event, Handle, from_fn};
use filch_supervisor::{Child, Strategy, Supervisor};

use crate::scheduler::{Numbers, start};

/// A child whose first lives fail in their first step, `times` of them, and whose last one stays.
pub(crate) fn restart(times: u64) {
    let scheduler = start();
    let timers = Timers::new().expect("the system gives a thread");
    let (tell, told) = channel();
    let mut left = times;
    let child = Child::unnamed(move |scheduler: &Handle<Numbers>| {
        let fails = left > 0;
        left = left.saturating_sub(1);
        let tell = tell.clone();
        let process = from_fn(move |_, events, out| {
            if fails {
                return Err(String::new());
            }
            let cancelled = events
                .into_iter()
                .any(|event| matches!(event, Event::Cancel(_)));
            if cancelled {
                out.done(());
            } else {
                tell.send(()).expect("the job waits for it");
            }
            Ok(())
        });
        scheduler.submission(process, "run", ())
    });
    // Nothing that has happened is counted any more when the next thing happens.
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(usize::MAX, Duration::ZERO)
        .child(child);
    let started = supervisor.start(&scheduler, &timers);
    let supervisor = started.and_then(filch_supervisor::Answer::wait);
    let supervisor = supervisor.expect("its child starts");
    told.recv().expect("its last life says so");
    assert!(supervisor.stop().wait().is_ok());
}
