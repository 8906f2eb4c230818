//! External tasks of a source beside tasks: added while threads sleep, search, stop and block.

use std::ptr::NonNull;
use std::sync::Arc as StdArc;

use filch_injector::Injector;
use filch_processors::{ExternalTask, Processors, Source};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Barrier};
use shuttle_tests::{explore, resizer};

use super::pool::{
    Bring, Task, all_meet, all_run_before_the_stop, restless, task, three_ends, with_pool,
};

type Work = Box<dyn FnOnce() + Send>;

/// Closures, first in, first out.
#[derive(Clone)]
struct Closures(Arc<Injector<Work>>);

impl Source for Closures {
    fn take(&self) -> Option<ExternalTask> {
        unsafe fn run(data: NonNull<()>) {
            // SAFETY: from a box, below, and called once.
            let work: Box<Work> = unsafe { Box::from_raw(data.cast().as_ptr()) };
            work();
        }

        let work = Box::leak(Box::new(self.0.pop()?));
        // SAFETY: it is the external task's alone, may go to any thread, and lasts until it is run.
        Some(unsafe { ExternalTask::new(NonNull::from(work).cast(), run) })
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Closures {
    fn new() -> Self {
        Self(Arc::new(Injector::new()))
    }

    fn attached(pool: &Processors<Task>) -> Self {
        let source = Self::new();
        pool.attach(StdArc::new(source.clone())).unwrap();
        source
    }

    fn put(&self, work: impl FnOnce() + Send + 'static) {
        self.0.push(Box::new(work));
    }

    /// Puts an external task in, and says so.
    fn offer(&self, pool: &Processors<Task>, work: impl FnOnce() + Send + 'static) {
        self.put(work);
        pool.notify();
    }
}

/// Brings work as external tasks of a source.
fn as_external_tasks(pool: &Processors<Task>) -> Bring {
    let source = Closures::attached(pool);
    Box::new(move |pool, work| source.offer(pool, work))
}

/// Two threads offer external tasks, and the pool is stopped as soon as they have. A failure: an
/// external task is left behind, as the end did not ask the source, or is run twice.
#[test]
fn what_was_offered_before_the_stop_runs() {
    let claim = "every external task offered before the stop runs once";
    all_run_before_the_stop(claim, as_external_tasks);
}

/// As many external tasks as processors, each of which ends only when all have begun. A failure is
/// a deadlock: an external task waits beside a sleeper; or a thread runs the first one while it
/// still counts as searching, and nobody is woken for the next.
#[test]
fn two_or_three_external_tasks_meet() {
    for parties in [2, 3] {
        let claim = format!("no external task waits beside an idle processor: {parties}");
        all_meet(&claim, parties, as_external_tasks);
    }
}

/// Two threads sleep; then many external tasks come, and one thread is told. A failure: the threads
/// wake each other for the external tasks, and each sleeps beside them while the other counts as
/// searching.
#[test]
fn two_threads_do_not_wake_each_other_for_each_external_task() {
    explore("nobody sleeps beside external tasks", 2_000, || {
        let pool = with_pool(2, |pool| {
            let source = Closures::attached(pool);
            pool.wait_quiescent(None).unwrap();
            for _ in 0..20 {
                source.put(|| ());
            }
            pool.notify();
        });
        let parks: u64 = pool.stats().iter().map(|stats| stats.parks).sum();
        // Two at the start and at the end; and one that is woken in vain, when the source is
        // attached and for the last external task.
        assert!(parks <= 6, "{parks} times asleep");
    });
}

/// Two external tasks are in a source, and end only when both have begun; it is attached while the
/// threads go to sleep. A failure is a deadlock: they are never told of external tasks that they
/// could not see.
#[test]
fn what_is_in_a_source_when_it_is_attached_runs() {
    explore("a source is attached beside sleepers", 3_000, || {
        with_pool(2, |pool| {
            let source = Closures::new();
            let meeting = Arc::new(Barrier::new(3));
            for _ in 0..2 {
                let meeting = Arc::clone(&meeting);
                source.put(move || _ = meeting.wait());
            }
            // Every thread has had its second look, or will have it in a moment.
            pool.wait_quiescent(None).unwrap();
            pool.attach(StdArc::new(source)).unwrap();
            meeting.wait();
        });
    });
}

/// External tasks block until one that they offer has run, and schedule a task, on fewer
/// processors, while the number of these changes; at the end nothing is left.
#[test]
fn external_tasks_calls_resizes_and_quiescence() {
    explore(
        "external tasks that block, resizes, and the moment at which all is done",
        3_000,
        || {
            let ran = Arc::new(AtomicUsize::new(0));
            with_pool(2, |pool| {
                let source = Closures::attached(pool);
                for _ in 0..2 {
                    let ran = Arc::clone(&ran);
                    let (inner, again) = (Arc::clone(pool), source.clone());
                    source.offer(pool, move || {
                        let meeting = Arc::new(Barrier::new(2));
                        let (count, other) = (Arc::clone(&ran), Arc::clone(&meeting));
                        again.offer(&inner, move || {
                            count.fetch_add(1, Ordering::SeqCst);
                            other.wait();
                        });
                        inner.blocking(|| meeting.wait());
                        let count = Arc::clone(&ran);
                        inner.schedule(task(move |_| {
                            count.fetch_add(1, Ordering::SeqCst);
                        }));
                        ran.fetch_add(1, Ordering::SeqCst);
                    });
                }
                let resizer = resizer(pool);
                pool.wait_quiescent(None).unwrap();
                assert_eq!(ran.load(Ordering::SeqCst), 6);
                resizer.join().unwrap();
            });
        },
    );
}

/// One processor. A task that never rests, and ends when two external tasks and a task from outside
/// have run. The clock of these builds advances by 100 µs each time it is read. A failure is an
/// endless schedule: one of these starves.
#[test]
fn beside_a_task_that_never_rests_external_tasks_get_a_turn() {
    explore(
        "beside a task that never rests external tasks get a turn",
        1_000,
        || {
            with_pool(1, |pool| {
                let source = Closures::attached(pool);
                // One task makes all the others: otherwise the restless one might run for ever.
                pool.inject(task(move |pool| {
                    let over = Arc::new(AtomicBool::new(false));
                    let [first, second, from_outside] = three_ends(&over);
                    source.offer(pool, first);
                    source.offer(pool, second);
                    pool.inject(task(move |_| from_outside()));
                    pool.schedule(restless(over, Arc::default()));
                }));
            });
        },
    );
}
