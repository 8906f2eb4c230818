//! Tasks that are bound to a thread.

use filch_processors::Processors;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread::{self, ThreadId};
use shuttle_tests::{explore, resizer};

use super::pool::{task, with_pool};

/// A record of the threads that ran bound tasks.
#[derive(Clone)]
struct Witness(Arc<Mutex<Vec<ThreadId>>>);

impl Witness {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    fn note(&self) {
        self.0.lock().unwrap().push(thread::current().id());
    }

    fn assert_one_thread(&self, tasks: usize) {
        let all = self.0.lock().unwrap();
        assert_eq!(all.len(), tasks, "not every bound task exactly once");
        assert!(all.iter().all(|&thread| thread == all[0]), "on two threads");
    }
}

/// Two processors and a bound thread, whose tasks come from outside, schedule another each, and
/// block; the pool is stopped meanwhile. A failure: a bound task is left behind, or runs elsewhere,
/// or a thread never exits (a deadlock).
#[test]
fn bound_tasks_and_the_stop() {
    explore("bound tasks run on their thread, to the end", 3_000, || {
        let witness = Witness::new();
        let free = Arc::new(AtomicUsize::new(0));
        with_pool(2, |pool| {
            let thread = Processors::reserve_thread(pool).unwrap();
            let id = thread.id();
            for _ in 0..2 {
                let (witness, free) = (witness.clone(), Arc::clone(&free));
                pool.inject(
                    task(move |pool| {
                        witness.note();
                        let again = witness.clone();
                        pool.schedule(task(move |_| again.note()).bound_to(id));
                        pool.schedule(task(move |_| {
                            free.fetch_add(1, Ordering::SeqCst);
                        }));
                        pool.blocking(thread::yield_now);
                    })
                    .bound_to(id),
                );
            }
            pool.stop();
            drop(thread);
        });
        assert_eq!(free.load(Ordering::SeqCst), 2);
        assert_eq!(witness.0.lock().unwrap().len(), 4);
    });
}

/// Two bound threads and two processors, then one, then three; each task blocks and schedules one
/// for the other thread. Quiescence comes when all have run, each on its own thread.
#[test]
fn bound_tasks_resizes_and_quiescence() {
    explore(
        "bound tasks, resizes, and the moment at which all is done",
        2_000,
        || {
            with_pool(2, |pool| {
                let threads = [(); 2].map(|()| Processors::reserve_thread(pool).unwrap());
                let ids = [0, 1].map(|number: usize| threads[number].id());
                let witnesses = [Witness::new(), Witness::new()];
                for number in 0..2 {
                    let own = witnesses[number].clone();
                    let others = witnesses[1 - number].clone();
                    pool.inject(
                        task(move |pool| {
                            own.note();
                            pool.schedule(task(move |_| others.note()).bound_to(ids[1 - number]));
                            pool.blocking(thread::yield_now);
                        })
                        .bound_to(ids[number]),
                    );
                }
                let resizer = resizer(pool);
                pool.wait_quiescent(None).unwrap();
                for witness in &witnesses {
                    witness.assert_one_thread(2);
                }
                resizer.join().unwrap();
            });
        },
    );
}

/// A thread is released while its tasks come: each runs, there or elsewhere.
#[test]
fn a_release_loses_nothing() {
    explore("a released thread loses nothing", 3_000, || {
        let ran = Arc::new(AtomicUsize::new(0));
        with_pool(2, |pool| {
            let thread = Processors::reserve_thread(pool).unwrap();
            let id = thread.id();
            for _ in 0..3 {
                let ran = Arc::clone(&ran);
                pool.inject(
                    task(move |_| {
                        ran.fetch_add(1, Ordering::SeqCst);
                    })
                    .bound_to(id),
                );
            }
            drop(thread);
            pool.wait_quiescent(None).unwrap();
            assert_eq!(ran.load(Ordering::SeqCst), 3);
        });
    });
}
