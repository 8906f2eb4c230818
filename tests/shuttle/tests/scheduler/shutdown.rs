//! The shutdown against everything else.

use std::num::NonZeroUsize;
use std::time::Duration;

use filch_actors::BlockingThreads;
use filch_scheduler::{Event, Scheduler};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle_tests::explore;

use super::{
    Closed, FOR_EVER, Note, Numbers, prompt_scheduler, scheduler, scripted, until_cancelled,
};

/// A thread submits and sends while the scheduler shuts down with unlimited patience. An admitted
/// process is cancelled, and ends by that. A failure: an admitted process is not cancelled, a
/// deadlock in `shutdown`; or is not closed.
#[test]
fn a_submission_races_with_the_shutdown() {
    explore("whoever is admitted is cancelled", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let early = scheduler
            .submit(until_cancelled(&closed), "run", ())
            .unwrap();
        let late = thread::spawn({
            let (handle, closed) = (scheduler.handle(), closed.clone());
            move || {
                let process = handle.submit(until_cancelled(&closed), "run", ()).ok()?;
                let _ = handle.send(process.pid(), Note::Number(0));
                Some(process)
            }
        });
        let report = scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!((report.aborted, report.stuck), (0, vec![]));
        assert_eq!(early.join().unwrap(), 7);
        let admitted = late.join().unwrap();
        assert_eq!(closed.count(), 1 + usize::from(admitted.is_some()));
        if let Some(process) = admitted {
            assert_eq!(process.join().unwrap(), 7);
        }
    });
}

/// Counts, for commands on a blocking thread, which let others run meanwhile, how often one has
/// begun, and how often one has returned.
#[derive(Clone)]
struct Counts {
    begun: Arc<AtomicUsize>,
    returned: Arc<AtomicUsize>,
}

/// Starts a scheduler whose commands run on one blocking thread, with two processes that have
/// yielded one each and wait until they are cancelled.
fn with_blocking_commands(closed: &Closed) -> (Scheduler<Numbers>, Counts) {
    let counts = Counts {
        begun: Arc::new(AtomicUsize::new(0)),
        returned: Arc::new(AtomicUsize::new(0)),
    };
    let (threads, counted) = (BlockingThreads::new(NonZeroUsize::MIN), counts.clone());
    let scheduler = scheduler(1, move |number, completion| {
        let counts = counted.clone();
        threads.run(completion, move || {
            counts.begun.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            counts.returned.fetch_add(1, Ordering::SeqCst);
            Ok(number)
        });
    });
    for _ in 0..2 {
        let mut asked = false;
        let process = scripted(closed, move |_, events, out| {
            if !std::mem::replace(&mut asked, true) {
                out.yield_command(0, 5);
            }
            if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
                out.done(7);
            } else {
                out.idle();
            }
        });
        drop(scheduler.submit(process, "run", ()).unwrap());
    }
    (scheduler, counts)
}

/// Commands run, or wait for their thread, while the scheduler shuts down with unlimited patience.
/// A failure: the shutdown returns while a command runs, or one begins later; or a deadlock, as it
/// is not told that the last one has returned.
#[test]
fn a_shutdown_waits_for_commands() {
    explore("what has begun has returned", 2_000, || {
        let closed = Closed::new();
        let (scheduler, counts) = with_blocking_commands(&closed);
        let report = scheduler.shutdown(FOR_EVER).unwrap();
        assert!(report.is_clean(), "{report}");
        let begun = counts.begun.load(Ordering::SeqCst);
        assert_eq!(counts.returned.load(Ordering::SeqCst), begun);
        (0..10).for_each(|_| thread::yield_now());
        assert_eq!(counts.begun.load(Ordering::SeqCst), begun);
        assert_eq!(closed.count(), 2);
    });
}

/// The same, with no time at all: each limit is over whenever the schedule likes, and the closing
/// thread goes on alone. A failure: a deadlock, or a process that is never closed.
#[test]
fn a_shutdown_that_is_out_of_time_leaves_nothing_undone() {
    let unclean = std::sync::atomic::AtomicUsize::new(0);
    let seen = Arc::new(unclean);
    let unclean = Arc::clone(&seen);
    explore("what is left behind ends by itself", 2_000, move || {
        let closed = Closed::new();
        let (scheduler, counts) = with_blocking_commands(&closed);
        let handle = scheduler.handle();
        let report = scheduler.shutdown(Duration::ZERO).unwrap();
        unclean.fetch_add(usize::from(!report.is_clean()), Ordering::Relaxed);
        while closed.count() < 2 || handle.live() > 0 || !handle.running().is_empty() {
            thread::yield_now();
        }
        let begun = counts.begun.load(Ordering::SeqCst);
        assert_eq!(counts.returned.load(Ordering::SeqCst), begun);
    });
    assert_ne!(
        seen.load(Ordering::Relaxed),
        0,
        "the interesting case was reached"
    );
}
