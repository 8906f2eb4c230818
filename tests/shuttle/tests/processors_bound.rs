//! Whole pools with tasks that are bound to a thread.
#![cfg(shuttle)]

use filch_processors::{BoundId, Config, Processors, Runner};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread::{self, ThreadId};
use shuttle_tests::{explore, resizer};

/// Runs closures, each on the thread that it is bound to, with the pool at hand.
struct Closures;

struct Task {
    to: Option<BoundId>,
    body: Box<Body>,
}

type Body = dyn FnOnce(&Processors<Task>) + Send;

fn task(to: Option<BoundId>, body: impl FnOnce(&Processors<Task>) + Send + 'static) -> Task {
    let body = Box::new(body);
    Task { to, body }
}

impl Runner<Task> for Closures {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        task.to
    }

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        (task.body)(pool);
    }
}

/// Starts a pool, lets `work` happen, stops it, and waits for its threads.
fn with_pool(processors: usize, work: impl FnOnce(&Arc<Processors<Task>>)) {
    let pool = Processors::new(Config::default().processors(processors)).unwrap();
    let machines = Processors::start(&pool, Arc::new(Closures)).unwrap();
    work(&pool);
    pool.stop();
    machines.join();
    assert_eq!(pool.threads().threads, 0);
}

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
            let id = Some(thread.id());
            for _ in 0..2 {
                let (witness, free) = (witness.clone(), Arc::clone(&free));
                pool.inject(task(id, move |pool| {
                    witness.note();
                    let again = witness.clone();
                    pool.schedule(task(id, move |_| again.note()));
                    pool.schedule(task(None, move |_| {
                        free.fetch_add(1, Ordering::SeqCst);
                    }));
                    pool.blocking(thread::yield_now);
                }));
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
                let ids = [0, 1].map(|number: usize| Some(threads[number].id()));
                let witnesses = [Witness::new(), Witness::new()];
                for number in 0..2 {
                    let own = witnesses[number].clone();
                    let others = witnesses[1 - number].clone();
                    pool.inject(task(ids[number], move |pool| {
                        own.note();
                        pool.schedule(task(ids[1 - number], move |_| others.note()));
                        pool.blocking(thread::yield_now);
                    }));
                }
                let resizer = resizer(pool);
                pool.wait_quiescent().unwrap();
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
            let id = Some(thread.id());
            for _ in 0..3 {
                let ran = Arc::clone(&ran);
                pool.inject(task(id, move |_| {
                    ran.fetch_add(1, Ordering::SeqCst);
                }));
            }
            drop(thread);
            pool.wait_quiescent().unwrap();
            assert_eq!(ran.load(Ordering::SeqCst), 3);
        });
    });
}
