//! A child by `fork` has none of its parent's threads.
#![cfg(target_os = "linux")]

use std::panic::catch_unwind;
use std::sync::mpsc::channel;
use std::thread;

use filch_fork_join::{OncePool, Pool, Worker, join, scope, spawn};
use hostile_tests::in_a_process_of_its_own;

/// Runs `body` in a child. A failure: it panics there, or hangs.
fn in_a_child(body: fn()) {
    // SAFETY: the child runs nothing but the body, and exits. As this process has threads, the
    // system promises little to it; what it needs of the allocator and of threads, Linux has.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: calls of the system with numbers alone. The alarm ends the child.
        unsafe { libc::alarm(30) };
        let failed = catch_unwind(body).is_err();
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(failed)) }
    }
    let mut status = -1;
    // SAFETY: the status lives for as long as the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child hangs (14), or panics (256)");
}

fn uses_the_global_pool() {
    assert_eq!(join(|| 1, || 2), (1, 2));
    let mut ran = [false; 2];
    scope(|scope| {
        for ran in &mut ran {
            scope.spawn(|_, _| *ran = true);
        }
    });
    assert_eq!(ran, [true, true]);
    let (tell, told) = channel();
    spawn(move |worker| tell.send(worker.threads()).unwrap());
    assert_eq!(told.recv(), Ok(Pool::global().unwrap().threads()));
}

#[test]
fn a_child_has_a_global_pool_of_its_own() {
    in_a_process_of_its_own("a_child_has_a_global_pool_of_its_own", || {
        Pool::new(3).unwrap().set_global().unwrap();
        uses_the_global_pool();
        in_a_child(|| {
            uses_the_global_pool();
            assert!(Pool::new(1).unwrap().set_global().is_err(), "there is one");
            in_a_child(|| {
                Pool::new(5).unwrap().set_global().unwrap();
                uses_the_global_pool();
                assert_eq!(Pool::global().unwrap().threads(), 5);
            });
            uses_the_global_pool();
        });
        uses_the_global_pool();
        assert_eq!(Pool::global().unwrap().threads(), 3);
    });
}

/// The child comes while the parent's pool is being started. A failure: it waits for the start.
#[test]
fn a_child_does_not_wait_for_what_its_parent_starts() {
    in_a_process_of_its_own("a_child_does_not_wait_for_what_its_parent_starts", || {
        static POOL: OncePool = OncePool::new();
        let (begin, begun) = channel();
        let (end, gate) = channel();
        let starting = thread::spawn(move || {
            let started = POOL.get_or_start(|| {
                begin.send(()).unwrap();
                gate.recv().unwrap();
                Pool::new(1)
            });
            started.map(Pool::threads).unwrap()
        });
        begun.recv().unwrap();
        in_a_child(|| {
            let pool = POOL.get_or_start(|| Pool::new(2)).unwrap();
            assert_eq!(pool.install(Worker::threads), 2);
        });
        end.send(()).unwrap();
        assert_eq!(starting.join().unwrap(), 1);
    });
}

/// The same, of rayon's.
#[test]
fn a_child_has_a_global_pool_of_rayon_of_its_own() {
    in_a_process_of_its_own("a_child_has_a_global_pool_of_rayon_of_its_own", || {
        let of = |threads| {
            let builder = rayon_core::ThreadPoolBuilder::new().num_threads(threads);
            builder.build_global().unwrap();
            assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
            assert_eq!(rayon_core::broadcast(|_| ()).len(), threads);
        };
        of(3);
        in_a_child(|| {
            assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
            in_a_child(|| rayon_core::ThreadPoolBuilder::new().build_global().unwrap());
        });
        assert_eq!(rayon_core::current_num_threads(), 3);
    });
}
