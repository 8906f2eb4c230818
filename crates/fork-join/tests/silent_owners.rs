//! Owners that wait in a leaf for jobs that only they can see, while other threads come for
//! something to do. Counters say that nobody sleeps beside a job, and what that takes. Nothing is
//! timed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

use filch_fork_join::{Doing, Pool, Worker, heavy_fences};
use filch_sync::asymmetric::{heavy, register};

/// Rounds of a test: from the second one on, deques have been taken from their owners before.
const ROUNDS: usize = 20;

/// The joins after which an owner that nobody disturbs has its deque for itself, also if that was
/// taken from it.
const JOINS: usize = 300;

/// The fences are counted for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// All threads of a pool, each in a job, which waits for the others.
struct Meeting {
    /// By thread, the owner first.
    doing: Vec<Doing>,
    /// A thread had a job that had not begun.
    is_one_left: bool,
    /// Heavy fences that were passed since the jobs were forked.
    heavy_fences: u64,
}

/// Holds meetings of so many threads, and returns what was seen at each.
///
/// While each other thread is held in a job, the owner forks a job for each of them. So nobody but
/// the owner can see these jobs. In the innermost leaf it lets the others go, and waits for them,
/// in a [blocking](Worker::blocking) call or not. A failure: it hangs.
fn meetings(threads: usize, is_in_call: bool) -> Vec<Meeting> {
    let pool = Pool::new(threads).unwrap();
    let meeting = |_| pool.install(|owner| meet(&pool, owner, is_in_call));
    let meetings = (0..ROUNDS).map(meeting).collect();
    pool.finish();
    meetings
}

fn meet(pool: &Pool, owner: &Worker, is_in_call: bool) -> Meeting {
    let (barrier, is_one_left) = (Barrier::new(pool.threads()), AtomicBool::new(false));
    let wait = || _ = barrier.wait();
    let attend = |worker: &Worker| {
        wait();
        is_one_left.fetch_or(worker.has_jobs(), Ordering::Relaxed);
        wait();
    };
    owner.scope(|scope| {
        for _ in 1..pool.threads() {
            scope.spawn(|_, _| {
                wait();
                wait();
            });
        }
        wait();
        (0..JOINS).for_each(|_| _ = owner.join(|_| (), |_| ()));
        let before = heavy_fences();
        let leaf = || {
            wait();
            wait();
            is_one_left.fetch_or(owner.has_jobs(), Ordering::Relaxed);
            let (mut report, heavy_fences) = (pool.report(), heavy_fences() - before);
            wait();
            report.sort_by_key(|thread| thread.index != owner.index());
            Meeting {
                doing: report.iter().map(|thread| thread.doing).collect(),
                is_one_left: is_one_left.load(Ordering::Relaxed),
                heavy_fences,
            }
        };
        fork(owner, pool.threads() - 1, &attend, &|| match is_in_call {
            true => owner.blocking(leaf),
            false => leaf(),
        })
    })
}

/// Forks `count` jobs that attend, each under the one before, and calls `leaf`.
fn fork<R>(
    worker: &Worker,
    count: usize,
    attend: &(dyn Fn(&Worker) + Sync),
    leaf: &dyn Fn() -> R,
) -> R {
    match count {
        0 => leaf(),
        _ => worker.join(|w| fork(w, count - 1, attend, leaf), attend).0,
    }
}

/// Checks that each thread runs a job, and none is left.
fn assert_all_are_there(threads: usize, meeting: &Meeting, owner: Doing) {
    let (first, others) = meeting.doing.split_first().unwrap();
    assert_eq!((*first, others.len()), (owner, threads - 1));
    assert!(others.iter().all(|&doing| doing == Doing::Runs));
    assert!(!meeting.is_one_left, "a job waits beside it");
}

/// An owner that falls silent has its deque taken, by one fence of each thread at most.
fn taken(threads: usize) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fewest = u64::from(register());
    for meeting in meetings(threads, false) {
        assert_all_are_there(threads, &meeting, Doing::Runs);
        let fences = meeting.heavy_fences;
        assert!((fewest..threads as u64).contains(&fences), "{fences}");
    }
}

/// One that is in a blocking call has shared its deque before, and costs no fence.
fn shared(threads: usize) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    register();
    for meeting in meetings(threads, true) {
        assert_all_are_there(threads, &meeting, Doing::Blocks);
        assert_eq!(meeting.heavy_fences, 0);
    }
}

/// A pool shows the count, and no other thread is there to change it.
#[test]
fn the_fences_are_shown() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let passed = register() && heavy().is_ok();
    let pool = Pool::new(1).unwrap();
    let count = heavy_fences();
    assert!(count >= u64::from(passed));
    assert!(format!("{pool:?}").contains(&format!("heavy_fences: {count}")));
}

/// Makes tests of a function for three numbers of threads: the name of a test that hangs must say
/// how many.
macro_rules! on_3_8_and_12_threads {
    ($($test:ident: $name:ident;)*) => {$(
        mod $name {
            #[test]
            fn on_3_threads() {
                super::$test(3);
            }

            #[test]
            fn on_8_threads() {
                super::$test(8);
            }

            #[test]
            fn on_12_threads() {
                super::$test(12);
            }
        }
    )*};
}

on_3_8_and_12_threads! {
    taken: silent_owners_are_taken_from;
    shared: owners_that_block_cost_no_fence;
}
