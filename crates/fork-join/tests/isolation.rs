//! Regions in which a thread that waits runs nothing that is not part of what it waits for: three
//! ways in which rayon's users have met deadlocks. Each is there twice. Without the region the job
//! that would lock what its thread holds is begun on top of that, every time, as it would be on
//! rayon; here it only looks. With the region it locks.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock};

use filch_fork_join::{Config, Pool, Scope, Worker};

thread_local! {
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// A guard: what it holds until it is dropped must not be asked for by this thread.
struct Holds;

impl Holds {
    fn begin() -> Self {
        assert!(!HOLDS.replace(true), "a job is on top of one that holds it");
        Self
    }
}

impl Drop for Holds {
    fn drop(&mut self) {
        HOLDS.set(false);
    }
}

fn pool(threads: usize) -> Pool {
    Pool::start(Config::default().threads(threads)).unwrap()
}

/// Waits for a branch that is on the other one of two threads, which spawns `job` and goes on with
/// `step` as long as `is_over` says. So nobody but the thread that waits can run the job meanwhile.
fn wait_beside<'scope>(
    worker: &Worker,
    scope: &Scope<'scope>,
    job: impl FnOnce() + Send + 'scope,
    step: impl Fn(&Worker) + Sync,
    is_over: impl Fn() -> bool + Sync,
) {
    let both = Barrier::new(2);
    worker.join(
        |_| both.wait(),
        |worker| {
            let result = both.wait();
            scope.spawn(move |_, _| job());
            while !is_over() {
                step(worker);
            }
            result
        },
    );
}

/// Without a region, a job that wants what the thread holds is begun in the wait.
#[test]
fn c3_a_wait_runs_other_jobs() {
    let pool = pool(2);
    let (ran, on_top) = (AtomicBool::new(false), AtomicBool::new(false));
    pool.scope(|scope| {
        scope.spawn(|worker, scope| {
            let job = || {
                on_top.store(HOLDS.get(), Ordering::Relaxed);
                ran.store(true, Ordering::Release);
            };
            let _holds = Holds::begin();
            let step = |_: &Worker| std::thread::yield_now();
            wait_beside(worker, scope, job, step, || ran.load(Ordering::Acquire));
        });
    });
    assert!(on_top.into_inner());
}

/// rayon's issue 592: a lock is held across parallel work, in jobs of which each wants it.
#[test]
fn a_lock_is_held_across_a_join() {
    fn sort(worker: &Worker, numbers: &mut [u32]) {
        if let [_, _, ..] = numbers {
            let middle = numbers.len() / 2;
            let (_, &mut pivot, _) = numbers.select_nth_unstable(middle);
            let (low, high) = numbers.split_at_mut(middle);
            worker.join(|worker| sort(worker, low), |worker| sort(worker, high));
            assert_eq!(numbers[middle], pivot);
        }
    }

    for threads in [2, 4] {
        let pool = pool(threads);
        let numbers = Mutex::new(Vec::new());
        pool.scope(|scope| {
            for seed in 0..100_u32 {
                let numbers = &numbers;
                scope.spawn(move |worker, _| {
                    worker.isolate(|worker| {
                        let mut numbers = numbers.lock().unwrap();
                        let _holds = Holds::begin();
                        *numbers = (0..500)
                            .map(|n: u32| n.wrapping_mul(seed | 1) % 251)
                            .collect();
                        sort(worker, &mut numbers);
                        assert!(numbers.is_sorted());
                    });
                });
            }
        });
    }
}

/// The same, one wait at a time: the other job is there to be taken, and is not.
#[test]
fn a_region_that_waits_leaves_other_jobs_alone() {
    let pool = pool(2);
    for _ in 0..40 {
        let lock = Mutex::new(());
        pool.scope(|scope| {
            scope.spawn(|worker, scope| {
                let job = || {
                    let _lock = lock.lock().unwrap();
                    drop(Holds::begin());
                };
                worker.isolate(|worker| {
                    let _lock = lock.lock().unwrap();
                    let _holds = Holds::begin();
                    let rounds = AtomicUsize::new(0);
                    let is_over = || rounds.fetch_add(1, Ordering::Relaxed) == 50;
                    // What it forks, the one that waits may run.
                    let step =
                        |worker: &Worker| _ = worker.join(|_| std::thread::yield_now(), |_| ());
                    wait_beside(worker, scope, job, step, is_over);
                });
            });
        });
    }
}

/// rayon's issue 1174: a thread of one pool holds a lock and waits for another pool, while jobs of
/// its own pool want the lock.
#[test]
fn a_lock_is_held_while_another_pool_works() {
    let (users, driver) = (pool(2), pool(2));
    let lock = Mutex::new(0);
    users.scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|worker, _| {
                worker.isolate(|_| {
                    let mut calls = lock.lock().unwrap();
                    let _holds = Holds::begin();
                    driver.scope(|scope| {
                        scope.spawn(|_, _| std::thread::yield_now());
                        scope.spawn(|_, scope| scope.spawn(|_, _| ()));
                    });
                    *calls += driver.install(|worker| worker.join(|_| 1, |_| 0).0);
                });
            });
        }
    });
    assert_eq!(lock.into_inner().unwrap(), 100);
}

/// rayon's issue 1251: what is made once is made in parallel, and the other threads want it.
#[test]
fn a_cell_is_initialised_in_parallel() {
    let pool = pool(2);
    for _ in 0..50 {
        let cell = OnceLock::new();
        let get = |worker: &Worker| {
            worker.isolate(|worker| {
                *cell.get_or_init(|| {
                    let _holds = Holds::begin();
                    let rounds = AtomicUsize::new(0);
                    worker.scope(|scope| {
                        for _ in 0..10 {
                            scope.spawn(|_, scope| {
                                scope.spawn(|_, _| _ = rounds.fetch_add(1, Ordering::Relaxed));
                                std::thread::yield_now();
                            });
                        }
                    });
                    rounds.into_inner()
                })
            })
        };
        pool.install(|worker| {
            worker.scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|worker, _| assert_eq!(get(worker), 10));
                }
            });
        });
    }
}

/// A region takes part in a broadcast of its own, and leaves those of others for later.
#[test]
fn a_broadcast_in_a_region() {
    let pool = pool(2);
    for _ in 0..50 {
        let told = Arc::new(AtomicUsize::new(0));
        pool.install(|worker| {
            worker.isolate(|worker| {
                let tell = Arc::clone(&told);
                worker.spawn_broadcast(move |_| {
                    assert!(!HOLDS.get());
                    tell.fetch_add(1, Ordering::Relaxed);
                });
                let holds = Holds::begin();
                assert_eq!(worker.broadcast(Worker::index), [0, 1]);
                drop(holds);
            });
            while told.load(Ordering::Relaxed) < 2 {
                worker.yield_now();
            }
        });
    }
}

/// A region ends with a panic as well, and regions nest. What is spawned without a scope is not
/// part of it: nobody in it runs that.
#[test]
fn a_region_ends() {
    let pool = pool(1);
    let ran = Arc::new(AtomicUsize::new(0));
    pool.install(|worker| {
        let spawn = || {
            let ran = Arc::clone(&ran);
            worker.spawn(move |_| _ = ran.fetch_add(1, Ordering::Relaxed));
        };
        let ran = || ran.load(Ordering::Relaxed);
        worker.isolate(|worker| {
            worker.isolate(|_| spawn());
            let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                worker.isolate(|worker| {
                    worker.scope(|scope| scope.spawn(|_, _| panic!("in a region")));
                });
            }));
            assert!(unwound.is_err());
            assert!(!worker.yield_now() && !worker.yield_local());
            assert_eq!(ran(), 0);
        });
        spawn();
        while worker.yield_now() {}
        assert_eq!(ran(), 2);
    });
}
