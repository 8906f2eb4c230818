//! Four workers add up numbers: jobs from outside come through the global queue, jobs that a job
//! makes stay in its worker's deque.
//!
//! A worker looks for work in this order: its own deque, the global queue, the others' deques. From
//! the global queue it takes one job to do now and, with the same claim, up to sixteen for its
//! deque, where the others can steal them. So jobs spread out without a lock.
//!
//! The workers here never sleep; an idle one yields its core. The parker's example `worker_loop`
//! has the protocol for workers that sleep.
//!
//! Run it with `cargo run -p filch-injector --example workers`.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use filch_deque::{Steal, Stealer, Worker};
use filch_injector::Injector;

const WORKERS: usize = 4;
const NUMBERS: u64 = 1_000_000;
/// Jobs that come from outside.
const JOBS: u64 = 100;
/// The longest range that is added up; a longer one becomes two jobs.
const SMALL: u64 = 500;
/// The number of jobs that a worker takes besides the one that it does.
const MORE: usize = 16;

/// Adds up the numbers of a range.
type Job = Range<u64>;

/// The state that the workers share.
struct Pool {
    global: Injector<Job>,
    stealers: Vec<Stealer<Job>>,
    /// Jobs that exist and are not done.
    open: AtomicUsize,
    sum: AtomicU64,
}

impl Pool {
    fn find_work(&self, own: &Worker<Job>) -> Option<Job> {
        own.pop()
            .or_else(|| self.global.pop_batch_into(own, MORE))
            .or_else(|| self.steal(own))
    }

    /// Steals up to half of the first deque that has jobs. (A worker that meets its own deque finds
    /// it empty.)
    fn steal(&self, own: &Worker<Job>) -> Option<Job> {
        self.stealers.iter().find_map(|victim| {
            loop {
                match victim.steal_half_into(own, MORE) {
                    Steal::Success(job) => return Some(job),
                    Steal::Empty => return None,
                    Steal::Retry => {}
                }
            }
        })
    }

    fn work(&self, own: &Worker<Job>) {
        // ORDERING: Acquire: pairs with the Release below: a worker that sees the last job done
        // sees the sum of all.
        while self.open.load(Ordering::Acquire) > 0 {
            match self.find_work(own) {
                Some(job) => self.perform(job, own),
                None => thread::yield_now(),
            }
        }
    }

    fn perform(&self, job: Job, own: &Worker<Job>) {
        if job.end - job.start > SMALL {
            let middle = job.start.midpoint(job.end);
            // ORDERING: Relaxed: the two halves count before this job ends.
            self.open.fetch_add(2, Ordering::Relaxed);
            own.push(job.start..middle);
            own.push(middle..job.end);
        } else {
            // ORDERING: Relaxed: released by the end of the job.
            self.sum.fetch_add(job.sum(), Ordering::Relaxed);
        }
        // ORDERING: Release: pairs with the Acquire in `work`.
        self.open.fetch_sub(1, Ordering::Release);
    }
}

fn main() {
    let own: Vec<_> = (0..WORKERS).map(|_| Worker::new()).collect();
    let pool = Pool {
        global: Injector::new(),
        stealers: own.iter().map(Worker::stealer).collect(),
        open: AtomicUsize::new(JOBS as usize),
        sum: AtomicU64::new(0),
    };
    let length = NUMBERS / JOBS;
    pool.global
        .push_batch((0..JOBS).map(|job| job * length..(job + 1) * length));
    thread::scope(|scope| {
        for own in own {
            let pool = &pool;
            scope.spawn(move || pool.work(&own));
        }
    });
    let sum = pool.sum.into_inner();
    println!("0 + 1 + … + {} = {sum}", NUMBERS - 1);
    assert_eq!(sum, NUMBERS * (NUMBERS - 1) / 2);
    assert!(pool.global.is_empty());
}
