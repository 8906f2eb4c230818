//! Work is found by threads that have none, while its owner does something else. Each test ends
//! only if that happens: a leaf waits, inside of a job, for what others are to run.
//!
//! `join` promises no parallelism. These tests rely on one thing: a thread without work finds each
//! job that has not begun, whatever its owner does.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use filch_fork_join::{Pool, Worker};

/// Not a measure of speed: how long a test waits before it believes that it hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Waits until that many others have said that they ran.
fn wait_for(ran: &Receiver<()>, count: usize) {
    for number in 0..count {
        let answer = ran.recv_timeout(HANGS);
        assert_eq!(answer, Ok(()), "{number} of {count} were run");
    }
}

/// Forks `count` small jobs, each behind the one before it, and ends in a leaf.
fn nest(worker: &Worker, count: usize, ran: &Sender<()>, leaf: &mut dyn FnMut()) {
    if count == 0 {
        return leaf();
    }
    let mine = ran.clone();
    worker.join(
        |w| nest(w, count - 1, ran, leaf),
        // The leaf is not there any more after it has failed.
        move |_| {
            let _ = mine.send(());
        },
    );
}

#[test]
fn c1_a_leaf_hides_none_of_the_jobs_before_it() {
    const JOBS: usize = 300;
    for threads in [2, 3, 4] {
        let pool = Pool::new(threads).unwrap();
        // The second time the deques are not new any more; and what comes before has the worker
        // keep its own one to itself.
        for _ in 0..2 {
            let (send, ran) = mpsc::channel();
            pool.install(move |worker| {
                nest(worker, 100, &mpsc::channel().0, &mut || {});
                nest(worker, JOBS, &send, &mut || wait_for(&ran, JOBS));
            });
        }
    }
}

fn small_jobs(worker: &Worker, count: usize, ran: &Sender<()>) {
    if count <= 1 {
        let _ = ran.send(());
        return;
    }
    let other = ran.clone();
    worker.join(
        |w| small_jobs(w, count / 2, ran),
        move |w| small_jobs(w, count - count / 2, &other),
    );
}

#[test]
fn c6_a_leaf_that_waits_for_ten_thousand_small_jobs() {
    const JOBS: usize = 10_000;
    for threads in [2, 3, 4] {
        let pool = Pool::new(threads).unwrap();
        let (send, ran) = mpsc::channel();
        pool.install(move |worker| {
            worker.join(
                move |_| wait_for(&ran, JOBS),
                move |w| small_jobs(w, JOBS, &send),
            );
        });
    }
}
