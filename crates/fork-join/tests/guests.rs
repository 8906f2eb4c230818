//! Guests: callers from outside who run what they install in the place of a thread that sleeps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, ThreadId};

use filch_fork_join::{Config, Pool, Worker, join};

fn runs_on(pool: &Pool) -> ThreadId {
    pool.install(|_| thread::current().id())
}

fn is_guest(pool: &Pool) -> bool {
    runs_on(pool) == thread::current().id()
}

/// Waits until the calling thread is a guest when it comes next, if nobody else comes.
fn becomes_guest(pool: &Pool) {
    while !is_guest(pool) {
        thread::yield_now();
    }
}

/// Runs `work` as a guest.
fn visit<R: Send>(pool: &Pool, work: impl Fn(&Worker) -> R + Sync) -> R {
    let own = thread::current().id();
    loop {
        let ran = pool.install(|worker| (thread::current().id() == own).then(|| work(worker)));
        if let Some(result) = ran {
            return result;
        }
        thread::yield_now();
    }
}

#[test]
fn a_guest_is_the_thread_whose_place_it_has() {
    let pool = Pool::new(2).unwrap();
    visit(&pool, |worker| {
        assert!(worker.index() < pool.threads());
        let current = Worker::current(|current| current.map(Worker::index));
        assert_eq!(current, Some(worker.index()));
        assert_eq!(pool.install(Worker::index), worker.index());
        let report = &pool.report()[worker.index()];
        assert!(report.jobs[0].contains("visit"), "{report}");
        assert_eq!(worker.join(|_| 3, |_| 4), (3, 4));
        assert_eq!(join(|| 3, || 4), (3, 4));
        assert_eq!(worker.broadcast(Worker::index), [0, 1]);
    });
    assert!(Worker::current(|worker| worker.is_none()), "it has left");
    assert_eq!(pool.broadcast(Worker::index), [0, 1]);
}

/// Threads that were made for something, whose stacks have a chosen size, or that others replace
/// while they block: what is installed runs on them.
#[test]
fn no_guest_takes_the_place_of_a_thread_that_differs() {
    let config = || Config::default().threads(2);
    let pools = [
        Pool::start(config().on_start(|_| ())),
        Pool::start(config().on_exit(|_| ())),
        Pool::start(config().stack_size(1 << 20)),
        Pool::start(config().blocking_threads(1)),
        Pool::start_with(config(), |made| {
            thread::Builder::new().spawn(|| made.run()).map(drop)
        }),
    ];
    for pool in pools.map(Result::unwrap) {
        for _ in 0..10 {
            pool.broadcast(|_| ());
            assert!(!is_guest(&pool));
        }
    }
}

/// In a pool of one, whose thread nobody wakes as long as the guest has its place. A failure: a job
/// that nobody comes for.
#[test]
fn what_a_guest_has_spawned_runs() {
    let pool = Pool::new(1).unwrap();
    let (ran, runs) = mpsc::channel();
    for round in 0..200 {
        visit(&pool, |worker| {
            for job in 0..3 {
                let ran = ran.clone();
                worker.spawn(move |_| ran.send((round, job)).unwrap());
            }
        });
        let mut jobs = [(); 3].map(|()| runs.recv().unwrap());
        jobs.sort_unstable();
        assert_eq!(jobs, [(round, 0), (round, 1), (round, 2)]);
    }
}

#[test]
fn a_panic_of_a_guest_goes_on() {
    let pool = Pool::new(2).unwrap();
    for _ in 0..3 {
        becomes_guest(&pool);
        let panics = || pool.install(|worker| worker.join(|_| 3, |_| panic!("wanted")).0);
        let payload = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"wanted"));
        assert!(Worker::current(|worker| worker.is_none()), "it has left");
    }
}

/// A guest of one pool waits for another one as the thread in whose place it is.
#[test]
fn a_guest_installs_into_another_pool() {
    let (outer, inner) = (Pool::new(1).unwrap(), Pool::new(1).unwrap());
    becomes_guest(&inner);
    let own = thread::current().id();
    visit(&outer, |_| {
        let back = || outer.install(|_| thread::current().id());
        let (there, back) = inner.install(|_| (thread::current().id(), back()));
        assert_ne!(there, own, "it has a place already");
        assert_eq!(back, own, "it runs the jobs of its pool while it waits");
    });
}

/// A job that only the thread may run whose place a guest has waits until the guest has left. A
/// failure: two threads in one place, or a job that nobody runs.
#[test]
fn a_broadcast_beside_a_guest() {
    let pool = Pool::new(1).unwrap();
    let (ran, runs) = mpsc::channel();
    for _ in 0..100 {
        let own = thread::current().id();
        visit(&pool, |worker| {
            let ran = ran.clone();
            pool.spawn_broadcast(move |_| ran.send(thread::current().id()).unwrap());
            for _ in 0..100 {
                assert!(worker.has_jobs(), "its thread runs it meanwhile");
                thread::yield_now();
            }
        });
        assert_ne!(runs.recv().unwrap(), own);
    }
}

#[test]
fn guests_and_threads_together() {
    fn sum(worker: &Worker, numbers: &[usize]) -> usize {
        match numbers {
            [] => 0,
            [number] => *number,
            _ => {
                let (left, right) = numbers.split_at(numbers.len() / 2);
                let (left, right) =
                    worker.join(|worker| sum(worker, left), |worker| sum(worker, right));
                left + right
            }
        }
    }

    let pool = Pool::new(2).unwrap();
    let numbers = Vec::from_iter(0..100);
    let spawned = AtomicUsize::new(0);
    thread::scope(|scope| {
        for guest in 0..3 {
            let (pool, numbers, spawned) = (&pool, &numbers, &spawned);
            scope.spawn(move || {
                for round in 0..300 {
                    let found = pool.install(|worker| {
                        worker.scope(|scope| {
                            scope.spawn(|_, _| _ = spawned.fetch_add(1, Ordering::Relaxed));
                            sum(worker, numbers)
                        })
                    });
                    assert_eq!(found, 4950);
                    if round % 10 == guest {
                        assert_eq!(pool.broadcast(Worker::index), [0, 1]);
                    }
                }
            });
        }
    });
    assert_eq!(spawned.load(Ordering::Relaxed), 900);
}
