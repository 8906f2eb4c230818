//! A leaf sleeps while its thread has forked what it waits for.

use filch_fork_join::{Config, Worker};
use filch_parker::Parker;
use shuttle_tests::explore;

use crate::{Arrivals, fork_small_jobs, on_pool, on_pool_as, pause};

/// Two threads. One forks and joins up to a hundred times, then forks a job and parks in the leaf
/// until that has run; twice. The other one looks in vain, and falls asleep, at any time of this:
/// before the deque is biased, while a pop makes it so, or after the last push. A failure is a
/// deadlock: it sleeps beside the job.
#[test]
fn a_leaf_parks_until_its_job_has_run() {
    explore("a parked leaf hides no job", 1_500, || {
        on_pool(2, |worker| {
            for _ in 0..2 {
                fork_small_jobs(worker, 100);
                parks(worker);
            }
        });
    });
}

/// Forks a job, and parks until it runs.
fn parks(worker: &Worker) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    worker.join(|_| parker.park(), move |_| unparker.unpark());
}

/// The same, but after a while in which the other thread falls asleep, as a rule. A failure is a
/// deadlock: the deque is biased, and the sleeper has not asked; or the push tells nobody.
#[test]
fn a_leaf_parks_beside_a_sleeper() {
    explore(
        "what a parked leaf has forked wakes a sleeper",
        1_000,
        || {
            on_pool(2, |worker| {
                for _ in 0..2 {
                    fork_small_jobs(worker, 3);
                    pause();
                    parks(worker);
                }
            });
        },
    );
}

/// Two threads: a leaf sleeps until three jobs have run, which were forked one in the other. A
/// failure is a deadlock: the thief has found the first one, and sleeps beside the rest.
#[test]
fn a_leaf_sleeps_until_one_thief_has_run_three_jobs() {
    fork_three_and_sleep(2);
}

/// Four threads: the same. A failure is a deadlock: all of them sleep, or each leaves the jobs to
/// another one.
#[test]
fn a_leaf_sleeps_until_three_thieves_have_run_its_jobs() {
    fork_three_and_sleep(4);
}

fn fork_three_and_sleep(threads: usize) {
    explore("a leaf hides none of the jobs before it", 700, move || {
        let arrivals = Arrivals::default();
        on_pool(threads, |worker| {
            for round in 1..=2 {
                fork_small_jobs(worker, 10);
                nest(worker, 3, &arrivals, &|| arrivals.wait_for(3 * round));
            }
        });
    });
}

/// Forks `count` jobs that arrive, one in the other, with a while between them, and calls `leaf`.
fn nest(worker: &Worker, count: usize, arrivals: &Arrivals, leaf: &(dyn Fn() + Sync)) {
    if count == 0 {
        return leaf();
    }
    let inner = |worker: &Worker| {
        pause();
        nest(worker, count - 1, arrivals, leaf);
    };
    worker.join(inner, |_| arrivals.arrive());
}

/// Two threads. The one that has stolen a branch forks in there, and sleeps until that has run; the
/// other one waits for the branch, and perhaps sleeps by then. A failure is a deadlock: a thread
/// that sleeps in a join is not told of what its thief has forked.
#[test]
fn a_thread_that_waits_helps_its_thief() {
    explore(
        "a thread that waits runs what its thief forks",
        1_500,
        || {
            let (stolen, helped) = (Arrivals::default(), Arrivals::default());
            on_pool(2, |worker| {
                fork_small_jobs(worker, 3);
                worker.join(
                    |_| stolen.wait_for(1),
                    |thief| {
                        stolen.arrive();
                        fork_small_jobs(thief, 20);
                        pause();
                        thief.join(|_| helped.wait_for(1), |_| helped.arrive());
                    },
                );
            });
        },
    );
}

/// Three threads. While one is busy with a stolen job, the owner forks another one and sleeps until
/// both are done; the busy thread waits for that other one, too. So the third has to run it. A
/// failure is a deadlock: nobody has woken it, because the first thief looked after the work.
#[test]
fn a_job_that_is_forked_while_the_thief_is_busy_runs() {
    explore("a busy thief does not stand for an idle one", 700, || {
        let (begun, second) = (Arrivals::default(), Arrivals::default());
        on_pool(3, |worker| {
            fork_small_jobs(worker, 10);
            pause();
            let forks_again = |worker: &Worker| {
                begun.wait_for(1);
                pause();
                worker.join(|_| second.wait_for(1), |_| second.arrive());
            };
            let is_busy = |_: &Worker| {
                begun.arrive();
                second.wait_for(1);
            };
            worker.join(forks_again, is_busy);
        });
    });
}

/// One thread, and another one for calls that block. A leaf forks a job, and waits for it in such a
/// call. A failure is a deadlock: the job stays in the deque of the thread that is in the call.
#[test]
fn a_call_that_blocks_hides_nothing() {
    explore("what is forked before a blocking call runs", 1_500, || {
        let arrivals = Arrivals::default();
        let config = Config::default().threads(1).blocking_threads(1);
        on_pool_as(config, |worker| {
            for round in 1..=2 {
                fork_small_jobs(worker, 3);
                worker.join(
                    |worker| worker.blocking(|| arrivals.wait_for(round)),
                    |_| arrivals.arrive(),
                );
            }
        });
    });
}

/// Two threads, of which one is in a call that blocks, and forks in there; the other one has the
/// only processor, and so does not spin before it sleeps. It asks, looks and sleeps again and
/// again, while the first one pushes and pops, and then parks until a job has run. A failure is a
/// deadlock: a pop has made the deque its owner's although the other thread had just asked; or a
/// push has taken down what it has asked, when it had the job already, and told nobody.
#[test]
fn a_thread_that_does_not_spin_misses_no_push() {
    explore("a pop heeds the request of a sleeper", 5_000, || {
        let config = Config::default().threads(1).blocking_threads(1);
        on_pool_as(config, |worker| {
            fork_small_jobs(worker, 3);
            worker.blocking(|| {
                fork_small_jobs(worker, 100);
                parks(worker);
            });
        });
    });
}
