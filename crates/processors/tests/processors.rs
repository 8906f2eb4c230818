//! The pool on real threads: every task runs exactly once, from wherever it is scheduled and
//! whatever else happens.

use std::collections::HashSet;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use filch_processors::{Config, PoolError, Processors, Runner};

type Pool = Processors<Task>;

enum Task {
    /// Says that it ran.
    Number(usize),
    /// Schedules a left and a right child of the given height less one, on the thread that it runs
    /// on.
    Tree(usize),
    /// Schedules itself again until the flag is set.
    Until(Arc<AtomicBool>),
    /// Sets the flag.
    Set(Arc<AtomicBool>),
    /// Says on which thread it runs.
    Where(mpsc::Sender<Option<String>>),
}

struct Test {
    ran: Mutex<Vec<usize>>,
    leaves: AtomicUsize,
}

impl Runner<Task> for Test {
    type Scratch = usize;

    fn scratch(&self, machine: usize) -> usize {
        machine
    }

    fn run(&self, task: Task, pool: &Arc<Pool>, machine: &mut usize) {
        assert!(pool.is_machine());
        match task {
            Task::Number(number) => self.ran.lock().unwrap().push(number),
            Task::Tree(0) => {
                self.leaves.fetch_add(1, Ordering::Relaxed);
            }
            Task::Tree(height) => {
                pool.schedule(Task::Tree(height - 1));
                pool.schedule(Task::Tree(height - 1));
            }
            Task::Until(flag) => {
                if !flag.load(Ordering::Acquire) {
                    pool.schedule(Task::Until(flag));
                }
            }
            Task::Set(flag) => flag.store(true, Ordering::Release),
            Task::Where(to) => {
                let name = std::thread::current().name().map(str::to_owned);
                assert_eq!(name.as_deref(), Some(format!("filch-{machine}").as_str()));
                to.send(name).unwrap();
            }
        }
    }
}

fn pool(processors: usize) -> (Arc<Pool>, Arc<Test>) {
    let pool = Pool::new(Config::default().processors(processors)).unwrap();
    let test = Test {
        ran: Mutex::default(),
        leaves: AtomicUsize::new(0),
    };
    (pool, Arc::new(test))
}

#[test]
fn impossible_numbers_of_processors() {
    assert!(matches!(
        Pool::new(Config::default().processors(0)),
        Err(PoolError::NoProcessors)
    ));
    let error = Pool::new(Config::default().processors(65_535)).unwrap_err();
    assert!(matches!(
        error,
        PoolError::TooManyProcessors {
            asked: 65_535,
            max: 65_534
        }
    ));
    assert!(error.source().is_none());
}

#[test]
fn a_pool_is_started_once() {
    let (pool, test) = pool(1);
    let machines = Processors::start(&pool, Arc::clone(&test)).unwrap();
    assert!(matches!(
        Processors::start(&pool, test),
        Err(PoolError::AlreadyStarted)
    ));
    pool.stop();
    machines.join();
}

#[test]
fn tasks_from_several_threads_run_once_each() {
    const THREADS: usize = 3;
    const EACH: usize = 10_000;
    for processors in [1, 2, 4] {
        let (pool, test) = pool(processors);
        let machines = Processors::start(&pool, Arc::clone(&test)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let pool = &pool;
                scope.spawn(move || {
                    for number in 0..EACH {
                        pool.schedule(Task::Number(thread * EACH + number));
                    }
                });
            }
        });
        pool.stop();
        machines.join();
        let ran = test.ran.lock().unwrap();
        assert_eq!(ran.len(), THREADS * EACH);
        assert_eq!(
            ran.iter().collect::<HashSet<_>>().len(),
            THREADS * EACH,
            "a task ran twice"
        );
        let stats = pool.stats();
        assert_eq!(
            stats.iter().map(|processor| processor.run).sum::<u64>(),
            (THREADS * EACH) as u64
        );
    }
}

/// The runner knows no pool but the one that each task is given: that of its thread, so that the
/// children go to the processor's own deque.
#[test]
fn a_tree_is_counted_by_a_runner_without_a_pool() {
    for processors in [1, 2, 4] {
        let (pool, test) = pool(processors);
        let machines = Processors::start(&pool, Arc::clone(&test)).unwrap();
        pool.inject(Task::Tree(12));
        pool.wait_quiescent(None).unwrap();
        assert_eq!(test.leaves.load(Ordering::Relaxed), 1 << 12);
        let stats = pool.stats().into_iter().reduce(|all, one| all + one);
        assert_eq!(stats.unwrap().scheduled, (1 << 13) - 2, "all but the root");
        pool.stop();
        machines.join();
    }
}

/// On one processor a task that schedules itself again is always the newest of the deque. The task
/// injected from outside runs nevertheless.
#[test]
fn b11_a_task_that_never_ends_does_not_starve_the_global_queue() {
    let (pool, test) = pool(1);
    let machines = Processors::start(&pool, test).unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    pool.inject(Task::Until(Arc::clone(&flag)));
    pool.inject(Task::Set(flag));
    pool.stop();
    machines.join();
}

#[test]
fn a_scratch_stays_with_its_thread_and_outsiders_are_none_of_ours() {
    let (pool, test) = pool(2);
    let machines = Processors::start(&pool, test).unwrap();
    assert!(!pool.is_machine());
    let (to, names) = mpsc::channel();
    (0..100).for_each(|_| pool.inject(Task::Where(to.clone())));
    drop(to);
    assert_eq!(names.iter().count(), 100);
    pool.stop();
    machines.join();
}
