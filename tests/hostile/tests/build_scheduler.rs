//! The build scheduler with ids, contents, results and wakers that panic or call back.

use std::cell::Cell;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use filch_build_scheduler::{Config, Job, JobError, PickError, Scheduler, WorkerId};
use filch_timers::{FakeClock, Timers};
use hostile_tests::{Bomb, Squad, explosion_of};

/// The operation of an id that panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Eq,
    Hash,
    Clone,
    Drop,
}

thread_local! {
    static ARMED: Cell<Option<Trap>> = const { Cell::new(None) };
}

/// Panics, once, if this trap is armed.
fn step_on(trap: Trap) {
    if ARMED.get() == Some(trap) {
        ARMED.set(None);
        resume_unwind(Box::new("wanted by the test"));
    }
}

#[derive(Debug)]
struct Rigged(u32);

impl PartialEq for Rigged {
    fn eq(&self, other: &Self) -> bool {
        step_on(Trap::Eq);
        self.0 == other.0
    }
}

impl Eq for Rigged {}

impl Hash for Rigged {
    fn hash<H: Hasher>(&self, state: &mut H) {
        step_on(Trap::Hash);
        self.0.hash(state);
    }
}

impl Clone for Rigged {
    fn clone(&self) -> Self {
        step_on(Trap::Clone);
        Self(self.0)
    }
}

impl Drop for Rigged {
    fn drop(&mut self) {
        step_on(Trap::Drop);
    }
}

type Farm<I, S, R> = Scheduler<I, S, R>;

fn farm<I, S, R>() -> Farm<I, S, R>
where
    I: Clone + Eq + Hash + Send + Sync + 'static,
    S: PartialEq + Send + Sync + 'static,
    R: Send + Sync + 'static,
{
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    Scheduler::new(Config::default(), &timers)
}

/// A call; returns true if its answer was that the scheduler had stopped.
type Call = fn(&Farm<Rigged, u32, ()>, WorkerId) -> bool;

/// The calls. The worker has artifact 1, and runs job 2, which depends on that.
const CALLS: [(&str, Call); 10] = [
    ("schedule", |farm, _| {
        let job = Job::with_dependencies(Rigged(5), [Rigged(1), Rigged(6)], 0);
        farm.schedule_job(job).is_ready()
    }),
    ("join", |farm, _| {
        let job = Job::with_dependencies(Rigged(2), [Rigged(1)], 0);
        farm.schedule_job(job).is_ready()
    }),
    ("complete", |farm, worker| {
        farm.on_job_complete(worker, Rigged(2), ()).wait().is_err()
    }),
    ("fail", |farm, worker| {
        farm.on_job_failed(worker, Rigged(2), ()).wait().is_err()
    }),
    ("withdraw", |farm, _| {
        farm.withdraw_job(Rigged(2)).wait().is_err()
    }),
    ("give back", |farm, worker| {
        farm.give_back(worker, Rigged(2)).wait().is_err()
    }),
    ("add artifact", |farm, worker| {
        farm.add_artifact(worker, Rigged(7)).wait().is_err()
    }),
    ("remove artifact", |farm, worker| {
        farm.remove_artifact(worker, Rigged(1)).wait().is_err()
    }),
    ("locate", |farm, _| {
        farm.locate_artifact(Rigged(1)).wait().is_err()
    }),
    ("remove worker", |farm, worker| {
        // The caller drops the result, so a panic of that would be the caller's.
        let removed = farm.remove_worker(worker).wait();
        removed.map(std::mem::forget).is_err()
    }),
];

/// In whichever call an id panics, no caller sees it: the scheduler stops, and everyone who waits
/// is told.
#[test]
fn an_id_that_panics_stops_the_scheduler() {
    let mut stopped = Vec::new();
    for trap in [Trap::Eq, Trap::Hash, Trap::Clone, Trap::Drop] {
        for (name, call) in CALLS {
            let farm = farm();
            let [worker, idle] = [(); 2].map(|()| farm.register_worker().wait().unwrap());
            assert_eq!(farm.add_artifact(worker, Rigged(1)).wait(), Ok(()));
            let waits = farm.schedule_job(Job::new(Rigged(3), 0));
            let job = Job::with_dependencies(Rigged(2), [Rigged(1)], 0);
            let runs = farm.schedule_job(job);
            assert_eq!(farm.pick_job(worker).wait().unwrap().id.0, 2);
            let picking = farm.pick_job(idle);
            ARMED.set(Some(trap));
            let was_told = call(&farm, worker);
            let went_off = ARMED.take().is_none();
            let is_stopped = farm.counts().wait().is_err();
            if trap == Trap::Drop {
                // Some are dropped where a panic does no harm.
                assert!(went_off || !is_stopped, "{name}, {trap:?}");
            } else {
                assert_eq!(
                    (was_told, is_stopped),
                    (went_off, went_off),
                    "{name}, {trap:?}"
                );
            }
            if is_stopped {
                assert_eq!(waits.wait(), Err(JobError::Stopped), "{name}, {trap:?}");
                // It may have ended before.
                let result = runs.wait();
                assert!(
                    matches!(result, Ok(_) | Err(JobError::Stopped)),
                    "{name}, {trap:?}"
                );
                // It may have got a job before.
                let picked = picking.wait();
                assert!(matches!(picked, Ok(_) | Err(PickError::Stopped)));
                stopped.push((name, trap));
            } else {
                assert!(!waits.is_ready(), "{name}, {trap:?}");
            }
        }
    }
    // All but those whose code a call does not reach.
    assert_eq!(stopped.len(), 27, "{stopped:?}");
}

/// A content that panics when it is compared with that of another job with the same id.
#[derive(Debug)]
struct Incomparable;

impl PartialEq for Incomparable {
    fn eq(&self, _: &Self) -> bool {
        resume_unwind(Box::new("wanted by the test"));
    }
}

#[test]
fn a_content_that_panics_when_it_is_compared_stops_the_scheduler() {
    let farm: Farm<u32, _, ()> = farm();
    let pending = [(); 2].map(|()| farm.schedule_job(Job::new(1, Incomparable)));
    for pending in pending {
        assert_eq!(pending.wait(), Err(JobError::Stopped));
    }
}

/// A content that is equal to all others.
struct Content(#[expect(dead_code, reason = "it is there to be dropped")] Bomb);

impl PartialEq for Content {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A panicking destructor leaves the planner in order: nobody notices, and all are dropped.
#[test]
fn contents_and_results_whose_destructors_panic_harm_nobody() {
    let squad = Squad::new(0..4);
    let farm: Farm<u32, Content, Bomb> = farm();
    let worker = farm.register_worker().wait().unwrap();
    assert_eq!(farm.add_artifact(worker, 1).wait(), Ok(()));
    assert_eq!(farm.add_artifact(worker, 2).wait(), Ok(()));
    let bombs = explosion_of(|| {
        // The first content is dropped with its job, the second one when it joins that job.
        for number in [0, 1] {
            drop(farm.schedule_job(Job::new(1, Content(squad.bomb(number)))));
        }
        assert_eq!(farm.pick_job(worker).wait().unwrap().id, 1);
        // Nobody awaits these results: one is of a job, and one of none.
        let completed = [2, 3].map(|number| {
            let completed = farm.on_job_complete(worker, 1, squad.bomb(number));
            completed.wait()
        });
        assert_eq!(completed, [Ok(true), Ok(false)]);
        assert_eq!(farm.counts().wait().unwrap().jobs, 0);
    });
    assert_eq!(bombs, None);
    squad.assert_dropped(4);
}

/// A waker that stops the scheduler.
struct Stops(Farm<u32, (), u32>);

impl Wake for Stops {
    fn wake(self: Arc<Self>) {
        // Not at once: another call is being applied, and this one comes after it.
        assert!(!self.0.stop().is_ready());
    }
}

#[test]
fn a_waker_may_stop_the_scheduler() {
    let farm: Farm<u32, (), u32> = farm();
    let worker = farm.register_worker().wait().unwrap();
    let mut pending = [(); 2].map(|()| farm.schedule_job(Job::new(1, ())));
    let waker = Waker::from(Arc::new(Stops(farm.clone())));
    for pending in &mut pending {
        let polled = Pin::new(pending).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    }
    let waits = farm.schedule_job(Job::new(2, ()));
    let picking = farm.pick_job(worker);
    // Both are told, though the first one that is woken stops the scheduler.
    assert_eq!(farm.on_job_complete(worker, 1, 7).wait(), Ok(true));
    for pending in pending {
        assert_eq!(pending.wait().map(|result| *result), Ok(7));
    }
    assert_eq!(waits.wait(), Err(JobError::Stopped));
    assert_eq!(picking.wait().err(), Some(PickError::Stopped));
    assert!(farm.counts().wait().is_err());
}
