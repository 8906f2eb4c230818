//! The only task of a processor: a search spares it for a while, and not for ever.

use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::sync::{Arc, Barrier};
use shuttle::thread;
use shuttle_tests::explore;

use crate::pool::{Task, task, with_pool};

/// One task waits, unannounced, for another one that is back from a blocking call and needs a
/// processor, and has a third in its deque: the only one there, which a search spares at first. The
/// search of the other processor ends early, because a thread waits for that processor. A failure:
/// a schedule without an end: what was spared is found by its second look, which wakes the same
/// machine to search, for ever, and the thread that waits never finds the processor idle.
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

/// A chain of tasks, each of which makes the next one runnable, on one of two processors: the
/// thread of the other one may watch it. The last task makes another runnable and does not end
/// before that one runs. A failure: a deadlock, or one interval after the other for ever: the task
/// is left to a processor that does not come for it.
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
