//! Watching: a thread that sees a processor come for its only task by itself leaves the task there,
//! but not for long.

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use crate::pool::{Job, Pool, finish, job, processors, started};

/// Much longer than anything takes that does not hang.
const HANGS: Duration = Duration::from_secs(60);

fn watches(pool: &Pool) -> u64 {
    pool.stats().iter().map(|processor| processor.watches).sum()
}

/// Makes the next link runnable, until the other thread watches. The last link makes one more task
/// runnable, and does not end before that one has run: on which processors?
fn link(done: Sender<(Option<usize>, Option<usize>)>) -> Job {
    job(move |pool| {
        if watches(pool) == 0 {
            return pool.schedule(link(done));
        }
        let (to, from) = mpsc::channel();
        pool.schedule(job(move |pool| to.send(pool.current()).unwrap()));
        done.send((pool.current(), from.recv().unwrap())).unwrap();
    })
}

#[test]
fn a_task_behind_a_long_step_is_taken_at_last() {
    let (pool, machines) = started(processors(2));
    let (done, is_done) = mpsc::channel();
    pool.inject(link(done));
    let (waits, runs) = is_done.recv().unwrap();
    assert!(
        waits.is_some() && runs.is_some() && waits != runs,
        "{waits:?} waits, {runs:?} runs"
    );
    finish(&pool, machines);
}

/// A failure: the watching thread cannot say when its interval ends, panics, and no thread looks
/// after the task.
#[test]
fn the_longest_interval_ends_too() {
    let (pool, machines) = started(processors(2).watch_interval(Duration::MAX));
    let (done, is_done) = mpsc::channel();
    pool.inject(link(done));
    let (waits, runs) = is_done.recv_timeout(HANGS).expect("it hangs");
    assert_ne!(waits, runs);
    finish(&pool, machines);
}

/// Each task makes the next one runnable, until the other processor has taken fifty of them at
/// times when it could have watched.
#[test]
fn without_an_interval_no_thread_watches() {
    fn link(done: Sender<()>) -> Job {
        job(move |pool| {
            let steals: u64 = pool.stats().iter().map(|kept| kept.steals).sum();
            match steals + watches(pool) {
                ..50 => pool.schedule(link(done)),
                _ => done.send(()).unwrap(),
            }
        })
    }

    let (pool, machines) = started(processors(2).watch_interval(Duration::ZERO));
    let (done, is_done) = mpsc::channel();
    pool.inject(link(done));
    is_done.recv().unwrap();
    assert_eq!(watches(&pool), 0);
    finish(&pool, machines);
}
