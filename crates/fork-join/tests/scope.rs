//! Scopes: jobs that borrow, and have all ended at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_fork_join::{Pool, Scope, Worker};

/// Each writes its own part of what the caller has on its stack.
#[test]
fn jobs_borrow_and_have_ended_at_the_end() {
    for threads in [1, 2, 4] {
        let pool = Pool::new(threads).unwrap();
        for _ in 0..50 {
            let mut squares = [0; 100];
            pool.install(|worker| {
                worker.scope(|scope| {
                    for (number, square) in squares.iter_mut().enumerate() {
                        scope.spawn(move |_, _| *square = number * number);
                    }
                });
            });
            assert!((0..100).all(|number| squares[number] == number * number));
        }
    }
}

/// A job spawns others, which the scope waits for as well. On each level of the tree both children
/// are spawned, and a failure is a count that is short: a scope that ended too early.
#[test]
fn jobs_spawn_jobs() {
    fn grow<'scope>(scope: &Scope<'scope>, leaves: &'scope AtomicUsize, depth: u32) {
        if depth == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            return;
        }
        for _ in 0..2 {
            scope.spawn(move |_, scope| grow(scope, leaves, depth - 1));
        }
    }

    for threads in [1, 2, 4] {
        let pool = Pool::new(threads).unwrap();
        let leaves = AtomicUsize::new(0);
        pool.install(|worker| worker.scope(|scope| grow(scope, &leaves, 12)));
        assert_eq!(leaves.into_inner(), 1 << 12);
    }
}

/// A scope inside a branch of a join, whose other branch lies in the deque meanwhile.
#[test]
fn a_scope_inside_a_join() {
    fn sum(worker: &Worker, from: u64, to: u64) -> u64 {
        if to - from == 1 {
            let mut value = 0;
            worker.scope(|scope| scope.spawn(|_, _| value = from));
            return value;
        }
        let middle = from.midpoint(to);
        let (left, right) = worker.join(
            |worker| sum(worker, from, middle),
            |worker| sum(worker, middle, to),
        );
        left + right
    }

    for threads in [1, 2, 4] {
        let pool = Pool::new(threads).unwrap();
        let total = pool.install(|worker| sum(worker, 0, 2_000));
        assert_eq!(total, 1_999_000);
    }
}

/// The panic of a job comes out of the scope, when the other jobs have run.
#[test]
fn a_job_panics() {
    let pool = Pool::new(2).unwrap();
    let others = AtomicUsize::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|worker| {
            worker.scope(|scope| {
                for number in 0..20 {
                    let others = &others;
                    scope.spawn(move |_, _| match number {
                        7 => panic!("number 7"),
                        _ => {
                            others.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            });
        });
    }));
    let payload = panic.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"number 7"));
    assert_eq!(others.load(Ordering::Relaxed), 19);
    assert_eq!(pool.install(|_| 6 * 7), 42, "the pool goes on");
}

/// The body's panic comes first, and no earlier than the end of the jobs.
#[test]
fn the_body_panics() {
    let pool = Pool::new(2).unwrap();
    let jobs = AtomicUsize::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|worker| {
            worker.scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(|_, _| {
                        jobs.fetch_add(1, Ordering::Relaxed);
                        panic!("a job");
                    });
                }
                panic!("the body");
            });
        });
    }));
    let payload = panic.unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"the body"));
    assert_eq!(jobs.load(Ordering::Relaxed), 20);
}

/// A thread outside of the pool may spawn into a scope.
#[test]
fn c4_a_job_comes_from_outside() {
    let pool = Pool::new(2).unwrap();
    let mut answer = 0;
    pool.install(|worker| {
        worker.scope(|scope| {
            let answer = &mut answer;
            std::thread::scope(|threads| {
                threads.spawn(|| scope.spawn(move |_, _| *answer = 42));
            });
        });
    });
    assert_eq!(answer, 42);
}

/// The body of a scope may run outside of the pool, or in another one: its thread is woken in the
/// end. A failure hangs.
#[test]
fn a_scope_may_be_opened_outside_of_its_pool() {
    for threads in [1, 2, 4] {
        let pool = Pool::new(threads).unwrap();
        let other = Pool::new(2).unwrap();
        let jobs = AtomicUsize::new(0);
        let open = || {
            pool.scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|_, scope| {
                        scope.spawn(|_, _| _ = jobs.fetch_add(1, Ordering::Relaxed));
                    });
                }
            });
        };
        for _ in 0..200 {
            open();
            other.install(|_| open());
            pool.install(|_| open());
        }
        assert_eq!(jobs.into_inner(), 6_000);
    }
}

/// Jobs that have not begun are dropped, with what they keep, before the scope ends.
#[test]
fn c6_a_cancelled_scope_runs_no_more_jobs() {
    let pool = Pool::new(1).unwrap();
    let token = std::sync::Arc::new(());
    let ran = AtomicUsize::new(0);
    pool.scope(|scope| {
        scope.spawn(|_, scope| {
            for _ in 0..100 {
                let token = std::sync::Arc::clone(&token);
                let ran = &ran;
                scope.spawn(move |_, scope| {
                    let _token = token;
                    if ran.fetch_add(1, Ordering::Relaxed) == 2 {
                        scope.cancel();
                    }
                });
            }
            assert!(!scope.is_cancelled());
        });
    });
    assert_eq!(ran.into_inner(), 3);
    assert_eq!(std::sync::Arc::strong_count(&token), 1);
}

#[test]
fn a_scope_has_a_job_on_each_thread() {
    let pool = Pool::new(3).unwrap();
    let ran = AtomicUsize::new(0);
    let ran = &ran;
    pool.scope(|scope| {
        scope.spawn_broadcast(|worker, scope| {
            ran.fetch_add(1 << (8 * worker.index()), Ordering::Relaxed);
            scope.spawn_broadcast(|worker, _| {
                ran.fetch_add(1 << (8 * worker.index()), Ordering::Relaxed);
            });
        });
    });
    assert_eq!(ran.load(Ordering::Relaxed), 0x04_04_04);
}
