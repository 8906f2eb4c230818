//! The results of `join` and `install`, and the borrows of their closures.

use std::thread;

use filch_fork_join::{Pool, StartError, Worker, join};

fn fib(worker: &Worker, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = worker.join(|w| fib(w, n - 1), |w| fib(w, n - 2));
    a + b
}

fn fib_without_worker(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib_without_worker(n - 1), || fib_without_worker(n - 2));
    a + b
}

/// Each test runs on pools of these sizes.
fn pools() -> impl Iterator<Item = Pool> {
    [1, 2, 4]
        .into_iter()
        .map(|threads| Pool::new(threads).unwrap())
}

#[test]
fn results_come_back_in_the_order_of_the_branches() {
    for pool in pools() {
        assert_eq!(pool.install(|worker| fib(worker, 20)), 6765);
        assert_eq!(pool.install(|_| fib_without_worker(20)), 6765);
    }
}

#[test]
fn c2_a_pool_of_one_thread_runs_a_then_b() {
    let pool = Pool::new(1).unwrap();
    let order = std::sync::Mutex::new(Vec::new());
    let note = |name| order.lock().unwrap().push(name);
    pool.install(|worker| {
        worker.join(
            |w| {
                w.join(|_| note("aa"), |_| note("ab"));
            },
            |_| note("b"),
        )
    });
    assert_eq!(order.into_inner().unwrap(), ["aa", "ab", "b"]);
}

#[test]
fn c5_branches_borrow_from_their_callers_stack() {
    fn double(worker: &Worker, numbers: &mut [u32]) {
        match numbers {
            [] => {}
            [number] => *number *= 2,
            _ => {
                let (left, right) = numbers.split_at_mut(numbers.len() / 2);
                worker.join(|w| double(w, left), |w| double(w, right));
            }
        }
    }

    for pool in pools() {
        let mut numbers: Vec<u32> = (0..10_000).collect();
        pool.install(|worker| double(worker, &mut numbers));
        assert!(numbers.into_iter().eq((0..10_000).map(|n| 2 * n)));
    }
}

/// Results that own memory: what is lost or doubled on the way is the address sanitizer's finding.
#[test]
fn results_that_are_moved_and_large() {
    /// The numbers of a range, in order, and words that a register does not hold.
    fn numbers(worker: &Worker, from: usize, to: usize) -> (Vec<String>, [usize; 20]) {
        if to - from == 1 {
            return (vec![from.to_string()], [from; 20]);
        }
        let middle = from.midpoint(to);
        let (mut left, right) =
            worker.join(|w| numbers(w, from, middle), |w| numbers(w, middle, to));
        left.0.extend(right.0);
        (left.0, std::array::from_fn(|i| left.1[i] + right.1[i]))
    }

    for pool in pools() {
        let (names, sums) = pool.install(|worker| numbers(worker, 0, 1000));
        assert!(names.into_iter().eq((0..1000).map(|n| n.to_string())));
        assert_eq!(sums, [999 * 1000 / 2; 20]);
    }
}

#[test]
fn only_b_need_be_send() {
    let pool = Pool::new(2).unwrap();
    let (shared, count) = pool.install(|worker| {
        let shared = std::rc::Rc::new(7);
        let ours = std::rc::Rc::clone(&shared);
        let (theirs, eight) = worker.join(|_| ours, |_| 8);
        (*theirs + *shared, eight)
    });
    assert_eq!((shared, count), (14, 8));
}

/// Deeper than the deque is at first, so that it grows while thieves take from it.
#[test]
fn a_recursion_that_is_deep_on_one_side() {
    fn descend(worker: &Worker, depth: u64) -> u64 {
        if depth == 0 {
            return 0;
        }
        let (sum, own) = worker.join(|w| descend(w, depth - 1), |_| depth);
        sum + own
    }

    const DEPTH: u64 = 1000;
    for pool in pools() {
        let sum = pool.install(|worker| descend(worker, DEPTH));
        assert_eq!(sum, DEPTH * (DEPTH + 1) / 2);
    }
}

#[test]
fn an_install_inside_of_its_pool_runs_here_and_now() {
    for pool in pools() {
        let sum = pool.install(|outer| {
            let here = thread::current().id();
            let (a, b) = outer.join(
                |_| pool.install(|inner| (thread::current().id() == here, fib(inner, 15))),
                |_| pool.install(|inner| fib(inner, 15)),
            );
            assert!(a.0, "`a` runs on the thread that joins");
            a.1 + b
        });
        assert_eq!(sum, 1220);
    }
}

#[test]
fn an_install_into_another_pool_runs_there() {
    let (one, other) = (Pool::new(2).unwrap(), Pool::new(2).unwrap());
    let sum = one.install(|worker| {
        let here = thread::current().id();
        let visit = || {
            other.install(|worker| {
                assert_ne!(thread::current().id(), here);
                fib(worker, 12)
            })
        };
        let (a, b) = worker.join(|_| visit(), |w| fib(w, 12));
        a + b + fib(worker, 12)
    });
    assert_eq!(sum, 3 * 144);
}

#[test]
fn pools_come_and_go() {
    for round in 0..100 {
        let pool = Pool::new(1 + round % 4).unwrap();
        assert_eq!(pool.install(|worker| fib(worker, 8)), 21);
    }
}

#[test]
fn a_pool_of_no_or_of_too_many_threads_is_refused() {
    assert!(matches!(Pool::new(0), Err(StartError::NoThreads)));
    let absurd = Pool::new(usize::MAX);
    assert!(
        matches!(
            absurd,
            Err(StartError::TooManyThreads {
                asked: usize::MAX,
                ..
            })
        ),
        "{absurd:?}"
    );
}

/// Pools of one thread each, which install in each other. A failure hangs: each thread sleeps until
/// the other one has run what only itself could run.
#[test]
fn installs_in_a_circle_end() {
    let (a, b) = (Pool::new(1).unwrap(), Pool::new(1).unwrap());
    let answer = a.install(|_| b.install(|_| a.install(|_| b.install(|_| 42))));
    assert_eq!(answer, 42);
}
