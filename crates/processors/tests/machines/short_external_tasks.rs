//! A source of many short external tasks: nobody sleeps beside it.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use filch_processors::{ExternalTask, ProcessorStats, Source};

use crate::pool::{Pool, finish, job, processors, started};

/// External tasks that are counted, and do nothing else.
#[derive(Default)]
struct Counted {
    left: AtomicUsize,
    ran: AtomicUsize,
}

impl Source for Counted {
    fn take(&self) -> Option<ExternalTask> {
        unsafe fn run(counted: NonNull<()>) {
            // SAFETY: it is kept by the source, which the pool keeps.
            let counted: &Counted = unsafe { counted.cast().as_ref() };
            // ORDERING: Relaxed: a count.
            counted.ran.fetch_add(1, Ordering::Relaxed);
        }

        // ORDERING: Release: the source's contract. Relaxed on failure: there is nothing to take.
        let take = |left: usize| left.checked_sub(1);
        let taken = self
            .left
            .fetch_update(Ordering::Release, Ordering::Relaxed, take);
        taken.ok()?;
        // SAFETY: any thread may count, and what it counts in lives as long as the pool.
        Some(unsafe { ExternalTask::new(NonNull::from(self).cast(), run) })
    }

    fn is_empty(&self) -> bool {
        // ORDERING: Relaxed: the source's contract.
        self.left.load(Ordering::Relaxed) == 0
    }
}

fn attached(pool: &Pool) -> Arc<Counted> {
    let source = Arc::new(Counted::default());
    assert!(pool.attach(Arc::clone(&source)).is_ok());
    source
}

/// Counts how often threads went to sleep.
fn parks(pool: &Pool) -> usize {
    let parks = |processor: &ProcessorStats| processor.parks as usize;
    pool.stats().iter().map(parks).sum()
}

/// A task leaves another one behind when it blocks, and a thread is woken for it, over and over. A
/// failure: while that comes, tasks are there, so that an external task would take a search, and it
/// counts as searching, so that the other processor may not search, and sleeps beside the external
/// tasks.
#[test]
fn a_processor_that_may_not_search_takes_external_tasks() {
    const CALLS: usize = 200;
    let (pool, machines) = started(processors(2));
    let source = attached(&pool);
    let external_tasks = Arc::clone(&source);
    source.left.store(usize::MAX, Ordering::Relaxed);
    pool.notify();
    pool.inject(job(move |pool| {
        for _ in 0..CALLS {
            pool.schedule(job(|_| ()));
            let before = external_tasks.ran.load(Ordering::Relaxed);
            pool.blocking(|| {
                while external_tasks.ran.load(Ordering::Relaxed) < before + 1_000 {
                    thread::yield_now();
                }
            });
        }
        external_tasks.left.store(0, Ordering::Relaxed);
    }));
    pool.wait_quiescent(None).unwrap();
    let parks = parks(&pool);
    finish(&pool, machines);
    assert!(parks <= 8, "{parks} times asleep in {CALLS} calls");
}
