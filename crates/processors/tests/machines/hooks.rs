//! A runner whose hooks panic: the pool runs, or says that it does not.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use filch_processors::{BoundId, Config, NeverQuiescent, Processors, Runner};

use crate::pool::{finish, processors, takes};

type Pool = Processors<Task>;

/// Which hook panics for a task.
#[derive(Clone, Copy, PartialEq)]
enum Hook {
    None,
    BoundTo,
    Label,
    OnProcessor,
    Run,
}

struct Task {
    panics: Hook,
    bound: Option<BoundId>,
    work: Box<Work>,
}

type Work = dyn FnOnce(&Arc<Pool>) + Send;

fn task(panics: Hook, work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Task {
    Task {
        panics,
        bound: None,
        work: Box::new(work),
    }
}

struct Hostile {
    /// The number of threads that get a scratch before one does not.
    scratches: AtomicUsize,
    /// Set for the task whose turn it is: `on_processor` is not told of it.
    on_processor: AtomicBool,
    describes: bool,
}

/// More than any test starts.
const MANY: usize = 1_000;

impl Runner<Task> for Hostile {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {
        let one_less = |left: usize| left.checked_sub(1);
        let left = (self.scratches).fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        assert!(left.is_ok(), "no scratch today");
    }

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        assert!(task.panics != Hook::BoundTo, "bound to fail");
        self.on_processor
            .store(task.panics == Hook::OnProcessor, Ordering::Relaxed);
        task.bound
    }

    fn label(&self, task: &Task) -> Option<NonZeroU64> {
        assert!(task.panics != Hook::Label, "no label");
        NonZeroU64::new(7)
    }

    fn describe(&self, label: NonZeroU64) -> String {
        assert!(self.describes, "words fail me");
        format!("number {label}")
    }

    fn on_processor(&self, _processor: usize, (): &mut ()) {
        assert!(
            !self.on_processor.load(Ordering::Relaxed),
            "not on this one"
        );
    }

    fn run(&self, task: Task, pool: &Arc<Pool>, (): &mut ()) {
        assert!(task.panics != Hook::Run, "it does not run");
        (task.work)(pool);
    }
}

fn hostile(config: Config, scratches: usize) -> (Arc<Pool>, Arc<Hostile>) {
    let pool = Pool::new(config).unwrap();
    let runner = Hostile {
        scratches: AtomicUsize::new(scratches),
        on_processor: AtomicBool::new(false),
        describes: true,
    };
    (pool, Arc::new(runner))
}

/// No thread has a scratch. A failure: whoever waits for the task, or for the threads, hangs.
#[test]
fn a_pool_whose_threads_cannot_begin_is_over() {
    let (pool, runner) = hostile(processors(3), 0);
    let (to, from) = mpsc::channel::<()>();
    pool.inject(task(Hook::None, move |_| to.send(()).unwrap()));
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
    machines.join();
    assert_eq!(pool.threads().threads, 0);
    assert_eq!(Arc::strong_count(&runner), 1, "nothing is left behind");
    drop(pool);
    assert!(from.recv().is_err(), "dropped unrun with the pool");
}

/// Some threads have none. A failure: a task waits for one of these.
#[test]
fn the_others_do_without_a_thread_that_cannot_begin() {
    for scratches in 1..3 {
        let (pool, runner) = hostile(processors(3), scratches);
        let machines = Processors::start(&pool, runner).unwrap();
        let (say, ran) = mpsc::channel();
        for number in 0..200 {
            let say = say.clone();
            pool.inject(task(Hook::None, move |_| {
                takes(Duration::from_micros(50));
                say.send(number).unwrap();
            }));
        }
        drop(say);
        assert_eq!(ran.iter().count(), 200);
        pool.stop();
        machines.join();
        assert!(pool.threads().started <= scratches as u64);
    }
}

/// Tasks that come during a blocking call wait for its end, if there is no scratch for a
/// substitute. The next time there is one.
#[test]
fn a_substitute_without_scratch_is_as_good_as_refused() {
    let (pool, runner) = hostile(processors(1), 1);
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    let (say, ran) = mpsc::channel();
    for round in 1..4 {
        let (say, other) = (say.clone(), say.clone());
        pool.inject(task(Hook::None, move |pool| {
            let refused = Arc::clone(pool);
            pool.blocking(|| {
                pool.inject(task(Hook::None, move |_| other.send("after").unwrap()));
                while refused.threads().refused < round {
                    std::thread::yield_now();
                }
                say.send("call").unwrap();
            });
        }));
        assert_eq!((ran.recv(), ran.recv()), (Ok("call"), Ok("after")));
        pool.wait_quiescent(None).unwrap();
    }
    runner.scratches.store(MANY, Ordering::Relaxed);
    let (meanwhile, other) = mpsc::channel();
    pool.inject(task(Hook::None, move |pool| {
        pool.inject(task(Hook::None, move |_| meanwhile.send(()).unwrap()));
        pool.blocking(|| other.recv().unwrap());
        say.send("ran meanwhile").unwrap();
    }));
    assert_eq!(ran.recv(), Ok("ran meanwhile"));
    finish(&pool, machines);
}

/// Its tasks run on another thread. A failure: they wait for it.
#[test]
fn a_bound_thread_without_scratch_is_released() {
    let (pool, runner) = hostile(processors(1), 1);
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    // The pool's own thread has the one scratch: else there is no thread for the tasks of all.
    let (say, has_begun) = mpsc::channel();
    pool.inject(task(Hook::None, move |_| say.send(()).unwrap()));
    has_begun.recv().unwrap();
    for scratches in [0, MANY] {
        runner.scratches.fetch_add(scratches, Ordering::Relaxed);
        let thread = Processors::reserve_thread(&pool).unwrap();
        for _ in 0..10 {
            let (say, ran) = mpsc::channel();
            let mut task = task(Hook::None, move |_| say.send(()).unwrap());
            task.bound = Some(thread.id());
            pool.inject(task);
            ran.recv().unwrap();
        }
        drop(thread);
    }
    assert_eq!(pool.resize(3).unwrap(), 1);
    finish(&pool, machines);
}

/// On the only processor, by whichever hook. A failure: the next task does not run.
#[test]
fn a_hook_that_panics_costs_its_task() {
    let (pool, runner) = hostile(processors(1), MANY);
    let machines = Processors::start(&pool, runner).unwrap();
    let hooks = [Hook::BoundTo, Hook::Label, Hook::OnProcessor, Hook::Run];
    for (index, hook) in hooks.into_iter().enumerate() {
        let (say, ran) = mpsc::channel();
        let lost = say.clone();
        pool.inject(task(hook, move |_| lost.send("it ran").unwrap()));
        pool.inject(task(Hook::None, move |_| say.send("the next").unwrap()));
        assert_eq!(ran.recv(), Ok("the next"));
        pool.wait_quiescent(None).unwrap();
        assert!(ran.recv().is_err(), "its task is dropped");
        assert_eq!(pool.stats()[0].panicked, index as u64 + 1);
    }
    finish(&pool, machines);
}

/// The same on a thread that tasks are bound to, which gives the processor back after them.
#[test]
fn a_hook_that_panics_on_a_bound_thread_costs_its_task() {
    let (pool, runner) = hostile(processors(1), MANY);
    let machines = Processors::start(&pool, runner).unwrap();
    let thread = Processors::reserve_thread(&pool).unwrap();
    for hook in [Hook::Label, Hook::Run] {
        let (say, ran) = mpsc::channel();
        for panics in [hook, Hook::None] {
            let say = say.clone();
            let mut task = task(panics, move |_| {
                say.send(std::thread::current().id()).unwrap();
            });
            task.bound = Some(thread.id());
            pool.inject(task);
        }
        drop(say);
        let there = ran.recv().unwrap();
        assert!(ran.recv().is_err(), "one of the two ran");
        let (say, ran) = mpsc::channel();
        pool.inject(task(Hook::None, move |_| {
            say.send(std::thread::current().id()).unwrap();
        }));
        assert_ne!(ran.recv().unwrap(), there, "the processor was given back");
        pool.wait_quiescent(None).unwrap();
    }
    assert_eq!(pool.stats()[0].panicked, 2);
    drop(thread);
    finish(&pool, machines);
}

/// A failure: the dump panics, or leaves a lock behind that nobody lets go of.
#[test]
fn a_description_that_panics_is_shown() {
    let pool = Pool::new(processors(1)).unwrap();
    let runner = Hostile {
        scratches: AtomicUsize::new(MANY),
        on_processor: AtomicBool::new(false),
        describes: false,
    };
    let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
    let (began, has_begun) = mpsc::channel();
    let (to, from) = mpsc::channel::<()>();
    pool.inject(task(Hook::None, move |_| {
        began.send(()).unwrap();
        from.recv().unwrap();
    }));
    has_begun.recv().unwrap();
    for _ in 0..2 {
        let dump = pool.dump().to_string();
        assert!(dump.contains("task 7"), "{dump}");
        assert!(dump.contains("words fail me"), "{dump}");
    }
    to.send(()).unwrap();
    finish(&pool, machines);
}
