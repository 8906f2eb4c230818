//! Meetings: as many jobs as threads, none of which ends before all have begun.

use filch_fork_join::Worker;
use shuttle_tests::explore;

use super::{Arrivals, explore_sizes, fork_small_jobs, on_pool, pause};

/// The way in which the jobs of a meeting are forked, all but the first.
type Form = fn(&Worker, usize, &(dyn Fn() + Sync));

/// Holds two meetings: in the second, threads have slept, and deques are not new.
fn meet(threads: usize, form: Form) {
    let arrivals = Arrivals::default();
    on_pool(threads, |worker| {
        for round in 1..=2 {
            fork_small_jobs(worker, 5);
            form(worker, threads, &|| arrivals.meet(round * threads));
        }
    });
}

/// Forks the next job with all behind it: each thief forks the rest.
fn chain(worker: &Worker, branches: usize, attend: &(dyn Fn() + Sync)) {
    match branches {
        1 => attend(),
        _ => _ = worker.join(|_| attend(), |w| chain(w, branches - 1, attend)),
    }
}

/// Forks the jobs behind it first: one thread forks all, with pauses, and attends last.
fn nest(worker: &Worker, branches: usize, attend: &(dyn Fn() + Sync)) {
    if branches == 1 {
        return attend();
    }
    let rest = |worker: &Worker| {
        pause();
        nest(worker, branches - 1, attend);
    };
    worker.join(rest, |_| attend());
}

/// Forks by halves.
fn tree(worker: &Worker, branches: usize, attend: &(dyn Fn() + Sync)) {
    let half = branches / 2;
    match branches {
        1 => attend(),
        _ => {
            worker.join(
                |w| tree(w, half, attend),
                |w| tree(w, branches - half, attend),
            );
        }
    }
}

/// As many jobs as threads, each of which forks the next one. A failure is a deadlock: a thief that
/// runs a job hides the job that it forks there, or no thread is woken for that.
#[test]
fn a_chain_meets() {
    explore_sizes("each of a chain of jobs has a thread", |threads| {
        meet(threads, chain);
    });
}

/// One thread forks a job for each other one, and attends. A failure is a deadlock: its first
/// answer has woken one thread, and nobody comes for the other jobs.
#[test]
fn a_nest_meets() {
    explore_sizes("each of nested jobs has a thread", |threads| {
        meet(threads, nest);
    });
}

/// A tree with a leaf for each thread. A failure is a deadlock: a leaf waits in a deque while a
/// thread sleeps.
#[test]
fn a_tree_meets() {
    explore_sizes("each leaf of a tree has a thread", |threads| {
        meet(threads, tree);
    });
}

/// Three threads. One branch is stolen, and its thief calls the meeting: one of the other threads
/// waits in a join, and one has nothing to do. A failure is a deadlock: the wrong one of them is
/// woken, or none.
#[test]
fn a_thief_calls_a_meeting() {
    explore("those that wait come, too", 500, || {
        let (stolen, arrivals) = (Arrivals::default(), Arrivals::default());
        on_pool(3, |worker| {
            fork_small_jobs(worker, 3);
            worker.join(
                |_| stolen.wait_for(1),
                |thief| {
                    stolen.arrive();
                    fork_small_jobs(thief, 5);
                    pause();
                    nest(thief, 3, &|| arrivals.meet(3));
                },
            );
        });
    });
}
