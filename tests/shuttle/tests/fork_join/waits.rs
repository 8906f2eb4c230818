//! A leaf sleeps until a job that its own thread has forked has run.

use filch_fork_join::{Config, Worker};
use filch_parker::Parker;
use shuttle_tests::explore;

use super::{Arrivals, explore_sizes, fork_small_jobs, on_pool, on_pool_as, pause};

/// Two threads. One forks and joins up to a hundred times, then forks a job and parks in the leaf
/// until that has run; twice. The other looks in vain, and falls asleep, at any time: before the
/// deque is biased, while a pop makes it so, or after the last push. A failure is a deadlock: it
/// sleeps beside the job.
#[test]
fn a_leaf_parks_until_its_job_has_run() {
    explore("a parked leaf hides no job", 1_500, || {
        on_pool(2, |worker| {
            for _ in 0..2 {
                parks(worker, 1, |worker| fork_small_jobs(worker, 100));
            }
        });
    });
}

/// Forks a job, and parks until it has run. That does the same, until so many threads are parked at
/// a time; each pauses before.
fn parks(worker: &Worker, owners: usize, before: fn(&Worker)) {
    if owners == 0 {
        return;
    }
    before(worker);
    let parker = Parker::new();
    let unparker = parker.unparker();
    worker.join(
        |_| parker.park(),
        move |thief| {
            parks(thief, owners - 1, before);
            unparker.unpark();
        },
    );
}

/// All threads but one are parked in leaves, each of which has forked the job that parks the next
/// one; a deque may be its owner's by then. A failure is a deadlock: the last thread sleeps, too.
#[test]
fn owners_park() {
    explore_sizes("parked owners hide no job", |threads| {
        park_all_but_one(threads, |worker| fork_small_jobs(worker, 5));
    });
}

/// The same after pauses, in which those that are left usually fall asleep.
#[test]
fn owners_park_beside_sleepers() {
    explore_sizes("what parked owners have forked wakes sleepers", |threads| {
        park_all_but_one(threads, fork_and_pause);
    });
}

fn park_all_but_one(threads: usize, before: fn(&Worker)) {
    on_pool(threads, |worker| {
        (0..2).for_each(|_| parks(worker, threads - 1, before));
    });
}

fn fork_and_pause(worker: &Worker) {
    fork_small_jobs(worker, 3);
    pause();
}

/// The same, after a pause in which the other thread usually falls asleep. A failure is a deadlock:
/// the deque is biased, and the sleeper has not asked; or the push tells nobody.
#[test]
fn a_leaf_parks_beside_a_sleeper() {
    explore(
        "what a parked leaf has forked wakes a sleeper",
        1_000,
        || {
            on_pool(2, |worker| {
                for _ in 0..2 {
                    parks(worker, 1, fork_and_pause);
                }
            });
        },
    );
}

/// Two threads: a leaf sleeps until three jobs have run, each forked in another. A failure is a
/// deadlock: the thief has found the first one, and sleeps beside the rest.
#[test]
fn a_leaf_sleeps_until_one_thief_has_run_three_jobs() {
    let claim = "a leaf hides none of the jobs before it";
    explore(claim, 700, || fork_three_and_sleep(2));
}

/// The same with more threads. A failure is a deadlock: all of them sleep, or each leaves the jobs
/// to another.
#[test]
fn a_leaf_sleeps_until_thieves_have_run_its_jobs() {
    explore_sizes("a leaf hides none of its jobs", fork_three_and_sleep);
}

fn fork_three_and_sleep(threads: usize) {
    let arrivals = Arrivals::default();
    on_pool(threads, |worker| {
        for round in 1..=2 {
            fork_small_jobs(worker, 10);
            nest(worker, 3, &arrivals, &|| arrivals.wait_for(3 * round));
        }
    });
}

/// Forks `count` jobs that arrive, each in another, with pauses between them, and calls `leaf`.
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

/// Two threads. The thief of a branch forks in it, and sleeps until that job has run; the other
/// thread waits for the branch, and perhaps sleeps by then. A failure is a deadlock: a thread that
/// sleeps in a join is not told of its thief's job.
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

/// Three threads. While one is busy with a stolen job, the owner forks another and sleeps until
/// both are done; the busy thread waits for that one, too. So the third thread has to run it. A
/// failure is a deadlock: nobody wakes it, as the first thief counts as looking for work.
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

/// One thread, and another for blocking calls. A leaf forks a job, and waits for it in such a call.
/// A failure is a deadlock: the job stays in the deque of the thread that is in the call.
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

/// Two threads. One is in a blocking call, and forks in it; the other has the only processor, so it
/// does not spin before it sleeps. It asks, looks and sleeps again and again, while the first one
/// pushes and pops, and then parks until a job has run. A failure is a deadlock: a pop makes the
/// deque its owner's although the other thread has just asked; or a push takes the request down
/// when the thread has the job already, and tells nobody.
#[test]
fn a_thread_that_does_not_spin_misses_no_push() {
    explore("a pop heeds the request of a sleeper", 5_000, || {
        let config = Config::default().threads(1).blocking_threads(1);
        on_pool_as(config, |worker| {
            fork_small_jobs(worker, 3);
            worker.blocking(|| {
                parks(worker, 1, |worker| fork_small_jobs(worker, 100));
            });
        });
    });
}
