//! Tasks bound to a thread: each runs there, and nothing else is held up.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};

use filch_processors::{BoundId, Config, Machines, Processors, Runner};

use crate::pool::{finish, processors};

pub(crate) type Pool = Processors<Task>;

pub(crate) type Work = dyn FnOnce(&Arc<Pool>) + Send;

pub(crate) struct Task {
    to: Option<BoundId>,
    work: Box<Work>,
}

pub(crate) fn free(work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Task {
    let work = Box::new(work);
    Task { to: None, work }
}

pub(crate) fn bound(to: BoundId, work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Task {
    let work = Box::new(work);
    Task { to: Some(to), work }
}

pub(crate) struct Tasks;

impl Runner<Task> for Tasks {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        task.to
    }

    fn run(&self, task: Task, pool: &Arc<Pool>, (): &mut ()) {
        (task.work)(pool);
    }
}

pub(crate) fn started(config: Config) -> (Arc<Pool>, Machines) {
    let pool = Pool::new(config).unwrap();
    let machines = Processors::start(&pool, Arc::new(Tasks)).unwrap();
    (pool, machines)
}

thread_local! {
    /// The bound tasks that have run on this thread.
    static RUNS: Cell<usize> = const { Cell::new(0) };
}

/// Which thread ran bound tasks, and what its thread-local counter said, in order.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<(ThreadId, usize)>>>);

impl Witness {
    fn note(&self) {
        let run = RUNS.get() + 1;
        RUNS.set(run);
        self.0.lock().unwrap().push((thread::current().id(), run));
    }

    /// That many tasks ran, all on one thread, which is returned; and its local storage has lasted.
    fn one_thread(&self, tasks: usize) -> ThreadId {
        let all = self.0.lock().unwrap();
        assert_eq!(all.len(), tasks);
        let thread = all[0].0;
        for (run, &note) in all.iter().enumerate() {
            assert_eq!(note, (thread, run + 1));
        }
        thread
    }
}

/// Tasks for two threads, from outside and from tasks, among others that are stolen and block: each
/// bound one runs on its own thread.
#[test]
fn b9_every_run_is_on_the_same_thread() {
    const ROUNDS: usize = 500;
    for count in [1, 4] {
        let (pool, machines) = started(processors(count));
        let threads = [(); 2].map(|()| Processors::reserve_thread(&pool).unwrap());
        let witnesses = [Witness::default(), Witness::default()];
        let free_on = Arc::new(Mutex::new(HashSet::new()));
        for round in 0..ROUNDS {
            for (thread, witness) in threads.iter().zip(&witnesses) {
                let (id, witness) = (thread.id(), witness.clone());
                let again = witness.clone();
                pool.inject(bound(id, move |pool| {
                    witness.note();
                    pool.schedule(bound(id, move |_| again.note()));
                    if round % 7 == 0 {
                        pool.blocking(thread::yield_now);
                    }
                }));
            }
            let free_on = Arc::clone(&free_on);
            pool.inject(free(move |pool| {
                if round % 5 == 0 {
                    pool.blocking(thread::yield_now);
                }
                free_on.lock().unwrap().insert(thread::current().id());
            }));
        }
        pool.wait_quiescent(None).unwrap();
        let [first, second] = witnesses.map(|witness| witness.one_thread(2 * ROUNDS));
        assert_ne!(first, second);
        let free_on = free_on.lock().unwrap();
        assert!(!free_on.contains(&first) && !free_on.contains(&second));
        assert_eq!(pool.threads().bound, 2);
        finish(&pool, machines);
        let sent: u64 = pool
            .stats()
            .iter()
            .map(|processor| processor.sent_to_bound)
            .sum();
        assert!(sent > 0);
    }
}

/// Tasks that are found while their thread is in a blocking call wait for it, and others go on;
/// then they run in order.
#[test]
fn what_comes_meanwhile_waits_in_order() {
    let (pool, machines) = started(processors(1));
    let thread = Processors::reserve_thread(&pool).unwrap();
    let id = thread.id();
    let (to, from) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel();
    pool.inject(bound(id, move |pool| {
        pool.blocking(|| from.recv().unwrap());
    }));
    /// Each comes when the one before it has been found. The last one lets the call end.
    fn follow(
        pool: &Pool,
        number: usize,
        to: mpsc::Sender<()>,
        done: mpsc::Sender<usize>,
        id: BoundId,
    ) {
        if number == 100 {
            return to.send(()).unwrap();
        }
        let told = done.clone();
        pool.inject(bound(id, move |_| told.send(number).unwrap()));
        pool.inject(free(move |pool| follow(pool, number + 1, to, done, id)));
    }
    follow(&pool, 0, to, done, id);
    assert_eq!(
        is_done.iter().collect::<Vec<_>>(),
        (0..100).collect::<Vec<_>>()
    );
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
}

/// A bound thread has many tasks waiting, the other processor is taken, and a thread comes back
/// from a blocking call: it gets the processor after the bound task that runs, not after all of
/// them.
#[test]
fn a_bound_thread_gives_way() {
    const TASKS: usize = 100;
    let (pool, machines) = started(processors(2));
    let thread = Processors::reserve_thread(&pool).unwrap();
    let id = thread.id();
    let ran = Arc::new(AtomicUsize::new(0));
    let (begun, has_begun) = mpsc::channel();
    let [(end_first, first), (end_call, call), (end_other, other)] =
        [(); 3].map(|()| mpsc::channel::<()>());
    let first_begun = begun.clone();
    pool.inject(bound(id, move |_| {
        first_begun.send(()).unwrap();
        first.recv().unwrap();
    }));
    has_begun.recv().unwrap();
    let (done, is_done) = mpsc::channel();
    let seen = Arc::clone(&ran);
    pool.inject(free(move |pool| {
        pool.blocking(|| call.recv().unwrap());
        done.send(seen.load(Ordering::Relaxed)).unwrap();
    }));
    for _ in 0..TASKS {
        let ran = Arc::clone(&ran);
        pool.inject(bound(id, move |_| {
            ran.fetch_add(1, Ordering::Relaxed);
        }));
    }
    until(|| pool.dump().to_string().contains("waiting for it: 100"));
    pool.inject(free(move |_| {
        begun.send(()).unwrap();
        other.recv().unwrap();
    }));
    has_begun.recv().unwrap();
    end_call.send(()).unwrap();
    until(|| pool.threads().waiting == 1);
    end_first.send(()).unwrap();
    assert_eq!(is_done.recv(), Ok(0), "bound tasks have overtaken it");
    end_other.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), TASKS);
    finish(&pool, machines);
}

fn until(happened: impl Fn() -> bool) {
    while !happened() {
        thread::yield_now();
    }
}

/// A task that waits for its thread is work: the pool is not quiescent. A thread that waits for a
/// task is not.
#[test]
fn quiescence_counts_tasks_and_not_threads() {
    let (pool, machines) = started(processors(2));
    let thread = Processors::reserve_thread(&pool).unwrap();
    pool.wait_quiescent(None).unwrap();
    let (to, from) = mpsc::channel::<()>();
    let ran = Arc::new(AtomicUsize::new(0));
    pool.inject(bound(thread.id(), move |pool| {
        pool.blocking(|| from.recv().unwrap());
    }));
    for _ in 0..10 {
        let ran = Arc::clone(&ran);
        pool.inject(bound(thread.id(), move |_| {
            ran.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert!(!pool.is_quiescent());
    to.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 10);
    finish(&pool, machines);
}

/// A released thread runs what waits for it; later tasks for it run somewhere. Many times, while
/// tasks come.
#[test]
fn a_released_thread_loses_nothing() {
    const ROUNDS: usize = 300;
    const TASKS: usize = 20;
    let (pool, machines) = started(processors(2).spare_threads(3));
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..ROUNDS {
        let thread = Processors::reserve_thread(&pool).unwrap();
        let id = thread.id();
        for number in 0..TASKS {
            let ran = Arc::clone(&ran);
            let task = bound(id, move |_| {
                ran.fetch_add(1, Ordering::Relaxed);
            });
            if number == TASKS / 2 {
                pool.schedule_idle(task);
            } else {
                pool.inject(task);
            }
        }
        drop(thread);
    }
    pool.wait_quiescent(None).unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), ROUNDS * TASKS);
    assert_eq!(pool.threads().bound, 0);
    finish(&pool, machines);
}

/// The pool is stopped while bound tasks wait, one of them is in a blocking call, and goes on to
/// schedule more when all others have left: everything runs, bound tasks on their threads.
#[test]
fn a_bound_call_outlasts_the_pool() {
    for _ in 0..100 {
        let (pool, machines) = started(processors(2));
        let threads = [(); 2].map(|()| Processors::reserve_thread(&pool).unwrap());
        let [first, second] = [threads[0].id(), threads[1].id()];
        let witnesses = [Witness::default(), Witness::default()];
        let (to, from) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let [one, other] = witnesses.clone();
        pool.inject(bound(first, move |pool| {
            one.note();
            begun.send(()).unwrap();
            pool.blocking(|| from.recv().unwrap());
            for _ in 0..3 {
                let (one, other, done) = (one.clone(), other.clone(), done.clone());
                pool.schedule(bound(first, move |_| one.note()));
                pool.schedule(bound(second, move |_| other.note()));
                pool.schedule(free(move |_| done.send(()).unwrap()));
            }
        }));
        has_begun.recv().unwrap();
        pool.stop();
        to.send(()).unwrap();
        machines.join();
        assert_eq!(is_done.iter().count(), 3);
        let [one, other] = witnesses;
        assert_ne!(one.one_thread(4), other.one_thread(3));
        assert_eq!(pool.threads().threads, 0);
    }
}
