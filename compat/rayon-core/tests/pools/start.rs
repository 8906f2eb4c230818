//! Pools that do not start, and pools that are dropped while they work.

use std::error::Error;
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use rayon_core::{ThreadBuilder, ThreadPoolBuilder, join, max_num_threads, spawn};

/// A failure: it hangs, as rayon does when it is asked to run something.
#[test]
fn a_thread_that_is_dropped_is_an_error() {
    let mut threads = Vec::new();
    let built = ThreadPoolBuilder::new()
        .num_threads(4)
        .spawn_handler(|builder| {
            if builder.index() != 2 {
                threads.push(thread::spawn(|| builder.run()));
            }
            Ok(())
        })
        .build();
    assert!(built.is_err());
    // Those that were made exit.
    for thread in threads {
        thread.join().unwrap();
    }
}

/// The handler keeps the builders; they run when there is a pool. A failure: it hangs.
#[test]
fn threads_may_run_when_the_pool_is_built() {
    let mut builders = Vec::new();
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .spawn_handler(|builder| {
            builders.push(builder);
            Ok(())
        })
        .build()
        .unwrap();
    assert_eq!(pool.current_num_threads(), 3);
    let run = |builder: ThreadBuilder| thread::spawn(|| builder.run());
    let threads: Vec<_> = builders.into_iter().map(run).collect();
    assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
    drop(pool);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_thread_that_is_refused_is_an_error_that_says_why() {
    let mut threads = Vec::new();
    let built = ThreadPoolBuilder::new()
        .num_threads(4)
        .spawn_handler(|builder| {
            if builder.index() == 2 {
                return Err(io::Error::new(
                    io::ErrorKind::OutOfMemory,
                    "no third thread",
                ));
            }
            threads.push(thread::spawn(|| builder.run()));
            Ok(())
        })
        .build();
    let error = built.unwrap_err();
    assert!(error.to_string().contains("no third thread"), "{error}");
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    assert_eq!(
        source.map(io::Error::kind),
        Some(io::ErrorKind::OutOfMemory)
    );
    assert_eq!(threads.len(), 2);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn too_many_threads_are_fewer() {
    let asked = max_num_threads() + 1;
    let mut made = 0;
    // None of them is made: that would take long.
    let built = ThreadPoolBuilder::new()
        .num_threads(asked)
        .spawn_handler(|_| {
            made += 1;
            Err(io::Error::other("enough"))
        })
        .build();
    assert!(built.is_err());
    assert_eq!(made, 1);
}

#[test]
fn threads_have_the_names_and_stacks_that_are_asked_for() {
    const STACK: usize = 3 << 20;
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|index| format!("worker {index}"))
        .stack_size(STACK)
        .spawn_handler(|builder| {
            assert_eq!(
                builder.name(),
                Some(&*format!("worker {}", builder.index()))
            );
            assert_eq!(builder.stack_size(), Some(STACK));
            thread::spawn(|| builder.run());
            Ok(())
        })
        .build()
        .unwrap();
    drop(pool);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|index| format!("worker {index}"))
        .build()
        .unwrap();
    let names = pool.broadcast(|_| thread::current().name().map(str::to_owned));
    assert_eq!(
        names,
        [Some("worker 0".to_owned()), Some("worker 1".to_owned())]
    );
}

/// The spawned job runs, and so do those that it spawns; then the threads exit.
#[test]
fn a_pool_that_is_dropped_ends_its_work() {
    const CHAIN: usize = 1000;
    let (go, gone) = channel::<()>();
    let (done, ended) = channel();
    let mut threads = Vec::new();
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .spawn_handler(|builder| {
            threads.push(thread::spawn(|| builder.run()));
            Ok(())
        })
        .build()
        .unwrap();
    fn chain(left: usize, done: impl Fn() + Send + 'static) {
        match left {
            0 => done(),
            _ => spawn(move || chain(left - 1, done)),
        }
    }
    pool.spawn(move || {
        gone.recv().unwrap_err();
        chain(CHAIN, move || done.send(()).unwrap());
    });
    drop(pool);
    drop(go);
    ended.recv().unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Its own thread drops the pool, and must end the job first.
#[test]
fn a_pool_may_be_dropped_by_a_job_of_its_own() {
    let pool = Arc::new(Mutex::new(None));
    let builder = ThreadPoolBuilder::new().num_threads(2);
    *pool.lock().unwrap() = Some(builder.build().unwrap());
    let (done, ended) = channel();
    let own = Arc::clone(&pool);
    pool.lock().unwrap().as_ref().unwrap().spawn(move || {
        drop(own.lock().unwrap().take());
        done.send(join(|| 1, || 2)).unwrap();
    });
    assert_eq!(ended.recv(), Ok((1, 2)));
}
