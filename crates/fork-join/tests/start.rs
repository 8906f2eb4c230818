//! The start of a pool's threads: what they do first and last, and which of them may be missing.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;

use filch_fork_join::{Config, Pool, StartError, Thread, Worker};

/// A pool whose threads are kept, and those.
fn late(threads: usize) -> (Pool, Vec<Thread>) {
    let mut kept = Vec::new();
    let pool = Pool::start_with(Config::default().threads(threads), |thread| {
        kept.push(thread);
        Ok(())
    });
    (pool.unwrap(), kept)
}

#[test]
fn threads_begin_and_exit_as_they_are_told() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let tell = |what: &'static str| {
        let events = Arc::clone(&events);
        move |index| {
            let current = Worker::current(|worker| worker.map(Worker::index));
            assert_eq!(current, Some(index));
            events.lock().unwrap().push((what, index));
        }
    };
    let config = Config::default()
        .threads(3)
        .thread_name("mine")
        .on_start(tell("start"))
        .on_exit(tell("exit"));
    let pool = Pool::start(config).unwrap();
    let names = pool.broadcast(|_| thread::current().name().unwrap().to_owned());
    assert_eq!(names, ["mine-0", "mine-1", "mine-2"]);
    let sorted = || {
        let mut events = std::mem::take(&mut *events.lock().unwrap());
        events.sort_unstable();
        events
    };
    assert_eq!(sorted(), [("start", 0), ("start", 1), ("start", 2)]);
    pool.finish();
    assert_eq!(sorted(), [("exit", 0), ("exit", 1), ("exit", 2)]);
}

/// A start does not wait for threads whose first action waits for the caller. A failure: a hang.
#[test]
fn a_start_does_not_wait_for_what_threads_do_first() {
    let all = Arc::new(Barrier::new(3));
    let begun = Arc::clone(&all);
    let config = Config::default()
        .threads(2)
        .on_start(move |_| _ = begun.wait());
    let pool = Pool::start(config).unwrap();
    all.wait();
    assert_eq!(pool.broadcast(Worker::index), [0, 1]);
}

/// And they go on: the job runs, and the thread leaves the pool in the end.
#[test]
fn a_panic_of_what_threads_do_first_and_last_is_told() {
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let config = Config::default()
        .threads(1)
        .on_start(|_| panic!("first"))
        .on_exit(|_| panic!("last"))
        .on_panic(move |payload| {
            let message = *payload.downcast::<&str>().unwrap();
            tell.lock().unwrap().send(message).unwrap();
        });
    let (give, get) = mpsc::channel();
    let pool = Pool::start_with(config, |thread| {
        give.send(thread).map_err(|_| io::ErrorKind::Other.into())
    });
    let pool = pool.unwrap();
    thread::spawn(move || {
        get.recv().unwrap().run();
        assert!(Worker::current(|worker| worker.is_none()), "it has left");
    });
    assert_eq!(pool.install(|_| 7), 7);
    pool.finish();
    assert_eq!(told.iter().collect::<Vec<_>>(), ["first", "last"]);
}

#[test]
fn a_pool_that_cannot_begin_says_why() {
    let refused = Pool::start_with(Config::default().threads(2), |_| {
        Err(io::ErrorKind::OutOfMemory.into())
    });
    assert!(matches!(refused, Err(StartError::Thread(_))), "{refused:?}");
    let dropped = Pool::start_with(Config::default().threads(2), |_| Ok(()));
    assert!(matches!(dropped, Err(StartError::Thread(_))), "{dropped:?}");
    let too_large = Pool::start(Config::default().threads(2).stack_size(usize::MAX / 4));
    assert!(
        matches!(too_large, Err(StartError::Thread(_))),
        "{too_large:?}"
    );
}

#[test]
fn a_thread_that_has_left_a_pool_may_be_one_of_another() {
    let (give, get) = mpsc::channel::<Thread>();
    let thread = thread::spawn(move || get.into_iter().for_each(Thread::run));
    for _ in 0..3 {
        let pool = Pool::start_with(Config::default().threads(1), |thread| {
            give.send(thread).map_err(|_| io::ErrorKind::Other.into())
        });
        assert_eq!(pool.unwrap().install(Worker::index), 0);
    }
    drop(give);
    thread.join().unwrap();
}

/// Each has its index, whichever comes first, and its share of what all were told before. A
/// failure: the start waits for them (it hangs), or a share is lost.
#[test]
fn threads_may_come_when_the_start_has_returned() {
    let (pool, threads) = late(3);
    let shares = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&shares);
    pool.spawn_broadcast(move |worker| told.lock().unwrap().push(worker.index()));
    thread::scope(|scope| {
        for (index, thread) in threads.into_iter().enumerate().rev() {
            assert_eq!(thread.index(), index);
            scope.spawn(|| thread.run());
        }
        assert_eq!(pool.broadcast(Worker::index), [0, 1, 2]);
        pool.finish();
    });
    let mut shares = shares.lock().unwrap().clone();
    shares.sort_unstable();
    assert_eq!(shares, [0, 1, 2]);
}

/// One is dropped, one never runs. A failure: the jobs, or the end, wait for them.
#[test]
fn the_others_do_without_a_thread_that_does_not_come() {
    let (pool, mut threads) = late(3);
    drop(threads.pop());
    let present = threads.pop().unwrap();
    let present = thread::spawn(|| present.run());
    let jobs = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|worker, _| {
                worker.join(
                    |_| jobs.fetch_add(1, Ordering::Relaxed),
                    |_| jobs.fetch_add(1, Ordering::Relaxed),
                );
            });
        }
    });
    assert_eq!(jobs.into_inner(), 200);
    pool.finish();
    present.join().unwrap();
}

/// The pool is dropped before a thread of it runs. A failure: the job is lost.
#[test]
fn what_was_spawned_waits_for_the_first_thread() {
    let (pool, threads) = late(2);
    let (done, end) = mpsc::channel();
    pool.spawn(move |worker| worker.spawn(move |_| done.send(7).unwrap()));
    drop(pool);
    threads.into_iter().for_each(Thread::run);
    assert_eq!(end.try_recv(), Ok(7));
}

#[test]
fn a_thread_of_a_pool_is_not_one_of_another() {
    let (pool, mut threads) = late(1);
    let thread = threads.pop().unwrap();
    let other = Pool::new(1).unwrap();
    let run = catch_unwind(AssertUnwindSafe(|| other.install(|_| thread.run())));
    let message = *run.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("one of a pool's already"), "{message}");
    assert_eq!(other.install(|_| 7), 7, "it goes on there");
    pool.finish();
}

/// A finished pool leaves nothing, with threads of its own or a caller's that drops them.
#[test]
fn nothing_is_left_of_a_pool_that_is_finished() {
    let token = Arc::new(());
    let config = || {
        let [start, exit, panics] = [(); 3].map(|()| Arc::clone(&token));
        Config::default()
            .threads(2)
            .on_start(move |_| drop(Arc::clone(&start)))
            .on_exit(move |_| drop(Arc::clone(&exit)))
            .on_panic(move |_| drop(Arc::clone(&panics)))
    };
    let pool = Pool::start(config()).unwrap();
    pool.install(|worker| worker.spawn(|_| panic!("for nobody")));
    pool.finish();
    assert_eq!(Arc::strong_count(&token), 1);

    let mut threads = Vec::new();
    let pool = Pool::start_with(config(), |thread| {
        threads.push(thread);
        Ok(())
    });
    drop(threads);
    pool.unwrap().finish();
    assert_eq!(Arc::strong_count(&token), 1);
}
