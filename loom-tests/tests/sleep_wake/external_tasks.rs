//! External tasks of a source, which are taken in a search and without one.

use filch_models::{Bound, beside};
use filch_sync::atomic::Ordering;

use super::Pool;

impl Pool {
    /// A processor without a task takes external tasks until there is none, and sleeps; how many.
    /// Where another one `has_tasks`, it asks to search first. It does not sleep beside an external
    /// task.
    fn take_external_tasks(&self, own: usize, has_tasks: bool) -> usize {
        let mut taken = 0;
        loop {
            while !has_tasks && self.take() {
                taken += 1;
            }
            let searching = self.idle.try_start_searching(2);
            // In a search, or since it may not search.
            if !self.take() {
                let left = self.tasks.load(Ordering::Relaxed);
                assert_eq!(left, 0, "it sleeps beside an external task");
                self.sleep(own, searching);
                return taken;
            }
            taken += 1;
            if searching {
                self.stop_searching();
            }
        }
    }
}

/// Two external tasks lie in the source. The second processor has been woken for them, and counts
/// as searching, but has not begun; so the first one may not search. A failure: it sleeps
/// nevertheless, and the second one wakes it for the next external task in return, and so on.
fn one_takes_external_tasks_while_one_is_woken(claim: &str, bound: Bound, has_tasks: bool) {
    bound
        .outcomes(claim, move || {
            let pool = Pool::new(2);
            pool.tasks.store(2, Ordering::Relaxed);
            pool.idle.go_idle(1, false);
            assert!(pool.wake_one());
            let woken = beside(&pool, move |pool| match pool.take() {
                false => {
                    pool.sleep(1, true);
                    0
                }
                true => {
                    pool.stop_searching();
                    1 + pool.take_external_tasks(1, has_tasks)
                }
            });
            let first = pool.take_external_tasks(0, has_tasks);
            let second = woken.join().unwrap();
            assert_eq!(first + second, 2, "each is taken once");
            first
        })
        .assert_exactly([0, 1, 2]);
}

/// See [`one_takes_external_tasks_while_one_is_woken`].
#[test]
fn an_external_task_takes_no_search() {
    let claim = "external tasks: none sleeps beside one while another is woken";
    one_takes_external_tasks_while_one_is_woken(claim, Bound::exhaustive(15_000), false);
}

/// The same, while there are tasks, which a search would come to first.
#[test]
fn one_that_may_not_search_takes_an_external_task() {
    let claim =
        "external tasks and tasks: none sleeps beside an external task while another is woken";
    one_takes_external_tasks_while_one_is_woken(claim, Bound::preemptions(4, 7_000), true);
}

/// A producer publishes a second external task, and relies on a searcher; meanwhile a running
/// processor takes an external task without a search, and looks after nothing else. A failure: an
/// external task is left, and the searcher has gone to sleep.
#[test]
fn an_external_task_that_takes_no_search_breaks_no_promise() {
    Bound::preemptions(3, 4_000)
        .outcomes(
            "external tasks: one is taken without a search, beside a producer and a searcher",
            || {
                let pool = Pool::new(2);
                pool.tasks.store(1, Ordering::Relaxed);
                assert!(pool.idle.try_start_searching(2));
                let producer = beside(&pool, Pool::publish);
                let running = beside(&pool, |pool| {
                    let took = pool.take();
                    if !took {
                        pool.sleep(0, false);
                    }
                    took
                });
                let found = pool.take();
                if found {
                    pool.stop_searching();
                } else {
                    pool.sleep(1, true);
                }
                producer.join().unwrap();
                let took = running.join().unwrap();
                let left = pool.tasks.load(Ordering::Relaxed) > 0;
                let woken: usize = pool.tokens().iter().sum();
                assert!(
                    !left || found && took || woken == 1,
                    "an external task is left, and one sleeps"
                );
                (found, took)
            },
        )
        .assert_exactly([(true, false), (false, true), (true, true)]);
}

/// A known bug: an external task takes a search. The processor that may not search, because another
/// one has been woken and counts as searching, sleeps beside the source; and that other one wakes
/// it in return, for each external task anew.
#[test]
fn one_that_sleeps_as_it_may_not_search_is_caught() {
    let claim = "external tasks: may not search, sleeps";
    Bound::exhaustive(2).refute(claim, "it sleeps beside an external task", || {
        let pool = Pool::new(2);
        pool.tasks.store(2, Ordering::Relaxed);
        pool.idle.go_idle(1, false);
        assert!(pool.wake_one());
        let woken = beside(&pool, |pool| {
            assert!(pool.take(), "one of two");
            _ = pool.idle.stop_searching();
        });
        let found = pool.idle.try_start_searching(2) && pool.take();
        let left = pool.tasks.load(Ordering::Relaxed);
        woken.join().unwrap();
        assert!(found || left == 0, "it sleeps beside an external task");
    });
}
