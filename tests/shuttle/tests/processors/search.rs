//! The only task of a processor: a search spares it for a while, but not for ever.

use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::sync::{Arc, Barrier};
use shuttle::thread;
use shuttle_tests::explore;

use super::pool::{Task, task, with_pool};

/// A task waits, without announcing it, for another that is back from a blocking call and needs a
/// processor. A third is alone in the first one's deque: a search spares it at first. The search of
/// the other processor ends early, because a thread waits for that processor. A failure is an
/// endless schedule: the search's second look finds the spared task and wakes the same machine to
/// search, for ever, so that the waiting thread never finds the processor idle.
#[test]
fn a_search_that_gives_way_leaves_nothing() {
    explore("a search that gives way leaves nothing", 3_000, || {
        with_pool(2, |pool| {
            let meeting = Arc::new(Barrier::new(2));
            let back = Arc::clone(&meeting);
            pool.inject(task(move |pool| {
                pool.blocking(thread::yield_now);
                back.wait();
            }));
            pool.inject(task(move |pool| {
                pool.schedule(task(|_| ()));
                meeting.wait();
            }));
        });
    });
}

/// A chain of tasks, each of which makes the next runnable, on one of two processors: the thread of
/// the other may watch it. The last task makes another runnable and does not end before that one
/// runs. A failure: a deadlock, or endless intervals: the task is left to a processor that does not
/// come for it.
#[test]
fn a_watch_hides_no_task() {
    fn link(left: usize, meeting: Arc<Barrier>) -> Task {
        task(move |pool| match left {
            0 => {
                let other = Arc::clone(&meeting);
                pool.schedule(task(move |_| {
                    other.wait();
                }));
                meeting.wait();
            }
            _ => pool.schedule(link(left - 1, meeting)),
        })
    }

    let watches = Arc::new(AtomicU64::new(0));
    explore(
        "a task that was left to a watched processor is taken",
        1_000,
        {
            let watches = Arc::clone(&watches);
            move || {
                let pool = with_pool(2, |pool| {
                    pool.inject(link(200, Arc::new(Barrier::new(2))));
                });
                let kept: u64 = pool.stats().iter().map(|kept| kept.watches).sum();
                watches.fetch_add(kept, Ordering::Relaxed);
            }
        },
    );
    let kept = watches.load(Ordering::Relaxed);
    println!("{kept} watches");
    assert!(kept > 0, "no schedule had a watch in it");
}
