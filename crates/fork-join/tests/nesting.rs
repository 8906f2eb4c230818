//! The number of jobs on a stack that are no parts of one another.

use std::cell::Cell;
use std::env;
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use filch_fork_join::{Config, Doing, Pool, Scope, ThreadReport, Worker};

const JOBS: usize = 300;

thread_local! {
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// A job, from its beginning to its end.
struct NestedJob;

impl NestedJob {
    fn begin(deepest: &AtomicUsize) -> Self {
        NESTED.set(NESTED.get() + 1);
        deepest.fetch_max(NESTED.get(), Ordering::Relaxed);
        Self
    }
}

impl Drop for NestedJob {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Counts the jobs that one thread piles up, `most` of them at least. Each waits for another pool,
/// whose only thread waits until all have begun, or until nothing happens any more.
fn deepest(config: Config, most: usize) -> usize {
    let pool = Pool::start(config.threads(1)).unwrap();
    let other = Pool::new(1).unwrap();
    let (begun, deepest) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_open = AtomicBool::new(false);
    pool.scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|_, _| {
                let _job = NestedJob::begin(&deepest);
                begun.fetch_add(1, Ordering::Relaxed);
                other.install(|_| {
                    while !is_open.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                });
            });
        }
        let is_over = || {
            let sleeps = |thread: &ThreadReport| thread.doing == Doing::Sleeps;
            let begun = begun.load(Ordering::Relaxed);
            // The thread may sleep between two of those that come.
            begun >= most && (begun == JOBS || pool.report().iter().any(sleeps))
        };
        while !is_over() {
            thread::yield_now();
        }
        is_open.store(true, Ordering::Relaxed);
    });
    assert_eq!(begun.into_inner(), JOBS);
    deepest.into_inner()
}

/// Where nothing bounds it, a stack holds as many jobs as there are.
#[test]
fn a_stack_without_a_bound() {
    assert_eq!(deepest(Config::default(), JOBS), JOBS);
}

/// A failure: it overflows, and says nothing of jobs; or it hangs.
#[test]
fn a_stack_that_is_full_ends_the_program() {
    const INSIDE: &str = "FILCH_TEST_A_STACK_IS_FULL";
    if env::var_os(INSIDE).is_some() {
        let config = Config::default().threads(2).stack_size(256 << 10);
        let pool = Pool::start(config).unwrap();
        return pool.scope(|scope| {
            for _ in 0..50_000 {
                scope.spawn(|worker, _| while worker.yield_now() {});
            }
        });
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_stack_that_is_full_ends_the_program"])
        .arg("--nocapture")
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("nested_jobs") && said.contains("stack_size"),
        "{said}"
    );
}

#[test]
fn c6_a_stack_has_a_bound() {
    for (bound, most) in [(0, 1), (1, 1), (2, 2), (7, 7), (64, 64)] {
        assert_eq!(deepest(Config::default().nested_jobs(bound), most), most);
    }
}

/// Jobs of the same scope are no parts of one another: one that waits has none on top of it. The
/// recursion itself is not bounded.
#[test]
fn siblings_do_not_pile_up() {
    thread_local! {
        static INSIDE: Cell<usize> = const { Cell::new(0) };
    }

    /// Each level spawns three, of which each joins and goes one level further.
    fn level(worker: &Worker, levels: usize, bound: usize) -> usize {
        if levels == 0 {
            return 1;
        }
        let sum = AtomicUsize::new(0);
        worker.scope(|scope: &Scope<'_>| {
            for _ in 0..3 {
                let sum = &sum;
                scope.spawn(move |worker, _| {
                    INSIDE.set(INSIDE.get() + 1);
                    // Of each recursion that stands on this stack, one job for each of its levels.
                    assert!(INSIDE.get() <= bound, "{} jobs", INSIDE.get());
                    let (left, right) = worker.join(
                        |worker| level(worker, levels - 1, bound),
                        |worker| level(worker, levels - 1, bound),
                    );
                    sum.fetch_add(left + right, Ordering::Relaxed);
                    INSIDE.set(INSIDE.get() - 1);
                });
            }
        });
        sum.into_inner()
    }

    const LEVELS: usize = 4;
    for (nested, threads) in [(0, 1), (1, 2), (1, 4), (2, 3), (3, 4)] {
        let config = Config::default().threads(threads).nested_jobs(nested);
        let pool = Pool::start(config).unwrap();
        let bound = LEVELS * nested.max(1) as usize;
        for _ in 0..5 {
            let sum = pool.install(|worker| level(worker, LEVELS, bound));
            assert_eq!(sum, 6_usize.pow(LEVELS as u32));
        }
    }
}

/// The same, one wait at a time: a job of the scope is there to be taken while another one of it
/// waits, and is not.
#[test]
fn a_sibling_is_left_alone() {
    sibling(Config::default().nested_jobs(1), |worker, siblings| {
        siblings(worker);
    });
    sibling(Config::default(), |worker, siblings| {
        worker.isolate(siblings);
    });
}

/// Has `run` run two siblings.
fn sibling(config: Config, run: impl Fn(&Worker, &dyn Fn(&Worker)) + Sync) {
    let pool = Pool::start(config.threads(2)).unwrap();
    let (begun, ran) = (AtomicBool::new(false), AtomicBool::new(false));
    let both = Barrier::new(2);
    pool.install(|worker| {
        let here = worker.index();
        let sleeps = || pool.report()[here].doing == Doing::Sleeps;
        let siblings = |worker: &Worker| {
            worker.scope(|scope| {
                scope.spawn(|_, _| {
                    assert_eq!(NESTED.get(), 0, "on top of the other one");
                    ran.store(true, Ordering::Release);
                });
                scope.spawn(|worker, _| {
                    NESTED.set(1);
                    worker.join(
                        |_| {
                            begun.store(true, Ordering::Release);
                            both.wait();
                        },
                        |_| {
                            both.wait();
                            while !(sleeps() || ran.load(Ordering::Acquire)) {
                                thread::yield_now();
                            }
                        },
                    );
                    NESTED.set(0);
                });
            });
        };
        // The other thread is busy until the second one waits for it.
        worker.join(
            |worker| run(worker, &siblings),
            |_| {
                while !begun.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            },
        );
    });
}

/// With 1, a thread that waits leaves every other job alone, and the jobs end all the same.
#[test]
fn a_wait_takes_parts_only() {
    for config in [Config::default(), Config::default().with_caller()] {
        let config = config.threads(3).nested_jobs(1);
        // A caller is one of the pool's until its thread exits.
        let run = || parts_only(&Pool::start(config).unwrap());
        thread::spawn(run).join().unwrap();
    }
}

/// Has many jobs wait, of which none is on top of another one.
fn parts_only(pool: &Pool) {
    let deepest = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|worker, _| {
                fn halves(worker: &Worker, leaves: u32) {
                    if leaves > 1 {
                        worker.join(
                            |worker| halves(worker, leaves / 2),
                            |worker| halves(worker, leaves / 2),
                        );
                    } else {
                        thread::yield_now();
                    }
                }

                let _job = NestedJob::begin(&deepest);
                halves(worker, 16);
            });
        }
    });
    assert_eq!(deepest.into_inner(), 1);
}
