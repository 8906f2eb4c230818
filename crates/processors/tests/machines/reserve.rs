//! The number of threads that may be reserved, which takes nothing from others.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use filch_processors::{BoundThread, PoolError, Processors};

use crate::bound::{Pool, Task, Tasks, bound, free, started};
use crate::pool::{finish, processors};

/// Much longer than anything takes that does not hang.
const HANGS: Duration = Duration::from_secs(60);

/// Two threads are enough for a call that waits for another task, as long as none is reserved of
/// them.
#[test]
fn a_reserved_thread_takes_none_from_blocking_calls() {
    let (pool, machines) = started(processors(1).thread_limit(2));
    let thread: BoundThread<Task> = Processors::reserve_thread(&pool).unwrap();
    let (answer, answered) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let id = thread.id();
    pool.inject(free(move |pool| {
        pool.inject(bound(id, move |_| answer.send(7).unwrap()));
        done.send(pool.blocking(|| answered.recv_timeout(HANGS)))
            .unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(Ok(7)));
    assert_eq!(pool.stats()[0].blocked_in_place, 0);
    // Released, it is a thread too many for the limit, and exits.
    let threads = pool.threads();
    assert_eq!((threads.threads, threads.bound, threads.limit), (3, 1, 2));
    drop(thread);
    while pool.threads().threads > 2 {
        thread::yield_now();
    }
    finish(&pool, machines);
}

/// No more threads can be reserved than the limit says, and the caller is told so.
#[test]
fn a_thread_that_cannot_be_had() {
    let pool = Pool::new(processors(1).thread_limit(1)).unwrap();
    let early = Processors::reserve_thread(&pool);
    assert!(matches!(early, Err(PoolError::NotRunning)), "{early:?}");
    let machines = Processors::start(&pool, Arc::new(Tasks)).unwrap();
    let thread: BoundThread<Task> = Processors::reserve_thread(&pool).unwrap();
    let most = [(); 255].map(|()| Processors::reserve_thread(&pool).unwrap());
    let another = Processors::reserve_thread(&pool);
    assert!(
        matches!(another, Err(PoolError::Reserved { limit: 256 })),
        "{another:?}"
    );
    drop(most);
    // Not before one of them has exited.
    while let Err(refused) = Processors::reserve_thread(&pool) {
        assert!(matches!(refused, PoolError::Reserved { .. }), "{refused:?}");
        thread::yield_now();
    }
    // With every thread taken its blocking calls still give the processor to another one.
    let meeting = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meeting);
    pool.inject(bound(thread.id(), move |pool| {
        pool.blocking(|| {
            meeting.wait();
        });
    }));
    pool.inject(free(move |_| {
        other.wait();
    }));
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
    assert_eq!(pool.stats()[0].blocked_in_place, 0);
    let late = Processors::reserve_thread(&pool);
    assert!(matches!(late, Err(PoolError::Stopped)), "{late:?}");
}
