//! Calls outside of any pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use filch_fork_join::{Pool, Worker, join, scope, spawn};

/// In one test: there is one global pool.
#[test]
fn what_is_called_outside_runs_on_the_global_pool() {
    Pool::new(3).unwrap().set_global().unwrap();
    let pool = Pool::global().unwrap();
    assert_eq!(pool.threads(), 3);
    let inside = || Worker::current(|worker| worker.map(Worker::threads));
    assert_eq!(inside(), None);
    assert_eq!(join(inside, inside), (Some(3), Some(3)));

    let jobs = AtomicUsize::new(0);
    let result = scope(|scope| {
        assert_eq!(inside(), None, "the body runs here");
        for _ in 0..10 {
            scope.spawn(|worker, _| {
                assert_eq!(worker.threads(), 3);
                jobs.fetch_add(1, Ordering::Relaxed);
            });
        }
        7
    });
    assert_eq!((result, jobs.into_inner()), (7, 10));

    let (done, end) = mpsc::channel();
    spawn(move |_| spawn(move |worker| done.send(worker.threads()).unwrap()));
    assert_eq!(end.recv(), Ok(3));

    let refused = Pool::new(1).unwrap().set_global().unwrap_err();
    assert_eq!(refused.install(|_| inside()), Some(1), "it is handed back");
}
