//! Jobs that are spawned while other threads are busy or fall asleep.

use filch_fork_join::{Config, Pool, Worker};
use shuttle_tests::explore;

use super::{Arrivals, fork_small_jobs, on_pool, pause};

/// Three threads, all in jobs of a scope. Each job spawns another one while the others may still be
/// busy, and ends; the body sleeps until all six have run. A failure is a deadlock: nobody finds a
/// job that was spawned while nobody slept.
#[test]
fn what_is_spawned_while_all_are_busy_runs() {
    explore("what is spawned while all are busy runs", 400, || {
        let arrivals = Arrivals::default();
        on_pool(3, |worker| {
            worker.scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|_, scope| {
                        pause();
                        scope.spawn(|_, _| arrivals.arrive());
                        arrivals.arrive();
                    });
                }
                arrivals.wait_for(6);
            });
        });
    });
}

/// Three threads. The body of a scope spawns a job and forks another, and all three meet. A failure
/// is a deadlock: one of the two is hidden behind the other, or only one thread is woken.
#[test]
fn a_spawned_job_and_a_forked_one_meet() {
    explore("spawned and forked jobs are both in reach", 700, || {
        let arrivals = Arrivals::default();
        on_pool(3, |worker| {
            for round in 1..=2 {
                fork_small_jobs(worker, 5);
                worker.scope(|scope| {
                    scope.spawn(|_, _| arrivals.meet(3 * round));
                    pause();
                    let attend = |_: &Worker| arrivals.meet(3 * round);
                    worker.join(attend, attend);
                });
            }
        });
    });
}

/// Two threads. The leaf of one sleeps until a job that it has forked has run, and another that
/// meanwhile comes from outside; the other thread looks for jobs, or sleeps. A failure is a
/// deadlock: it is told of only one of the two.
#[test]
fn a_job_from_outside_and_a_forked_one_run() {
    explore("jobs from outside hide no forked ones", 1_000, || {
        let (ready, arrivals) = (Arrivals::default(), Arrivals::default());
        let pool = Pool::start(Config::default().threads(2)).unwrap();
        pool.scope(|scope| {
            scope.spawn(|worker, _| {
                fork_small_jobs(worker, 20);
                ready.arrive();
                pause();
                worker.join(|_| arrivals.wait_for(2), |_| arrivals.arrive());
            });
            ready.wait_for(1);
            pause();
            scope.spawn(|_, _| arrivals.arrive());
        });
        pool.finish();
    });
}
