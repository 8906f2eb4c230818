//! A runner whose hooks panic: the pool runs, or says that it does not.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use filch_processors::{
    BoundId, Config, Processors, ReserveError, ResizeError, Runner, StartError,
};

use crate::pool::processors;

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
    /// How many threads get a scratch before one does not.
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
        let left = self.scratches.load(Ordering::Relaxed);
        assert!(left > 0, "no scratch today");
        self.scratches.store(left - 1, Ordering::Relaxed);
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

/// The first thread, or another one. A failure: the pool has started, and runs nothing.
#[test]
fn a_pool_without_scratch_says_so() {
    for scratches in 0..3 {
        let (pool, runner) = hostile(processors(3), scratches);
        let (to, from) = mpsc::channel::<()>();
        pool.inject(task(Hook::None, move |_| to.send(()).unwrap()));
        let error = Processors::start(&pool, runner).unwrap_err();
        let StartError::Scratch { message } = &error else {
            panic!("{error}");
        };
        assert_eq!(message, "no scratch today");
        assert!(error.to_string().contains("no scratch today"), "{error}");
        assert_eq!(pool.threads().threads, 0);
        drop(pool);
        assert!(from.recv().is_err(), "dropped unrun with the pool");
    }
}

/// A blocking call keeps its processor if there is no scratch for its substitute, and the pool goes
/// on; the next one that finds one does not.
#[test]
fn a_substitute_without_scratch_is_as_good_as_refused() {
    let (pool, runner) = hostile(processors(1), 1);
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    let (say, ran) = mpsc::channel();
    for round in 0..3 {
        let say = say.clone();
        pool.inject(task(Hook::None, move |pool| {
            pool.blocking(|| say.send(round).unwrap());
        }));
        assert_eq!(ran.recv(), Ok(round));
        pool.wait_quiescent().unwrap();
    }
    assert_eq!(pool.stats()[0].blocked_in_place, 3);
    let threads = pool.threads();
    assert_eq!((threads.threads, threads.refused), (1, 3));
    runner.scratches.store(MANY, Ordering::Relaxed);
    let (meanwhile, other) = mpsc::channel();
    pool.inject(task(Hook::None, move |pool| {
        pool.inject(task(Hook::None, move |_| meanwhile.send(()).unwrap()));
        pool.blocking(|| other.recv().unwrap());
        say.send(4).unwrap();
    }));
    assert_eq!(
        ran.recv(),
        Ok(4),
        "another thread ran what the call waited for"
    );
    pool.stop();
    machines.join();
}

#[test]
fn a_resize_and_a_reservation_without_scratch_say_so() {
    let (pool, runner) = hostile(processors(1).max_processors(3), 2);
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    let error = pool.resize(3).unwrap_err();
    let ResizeError::Scratch { reached, message } = &error else {
        panic!("{error}");
    };
    assert_eq!((*reached, &**message), (2, "no scratch today"));
    assert_eq!(pool.count(), 2);
    let error = Processors::reserve_thread(&pool).unwrap_err();
    let ReserveError::Scratch { message } = &error else {
        panic!("{error}");
    };
    assert_eq!(message, "no scratch today");
    let (say, ran) = mpsc::channel();
    pool.inject(task(Hook::None, move |_| say.send(()).unwrap()));
    ran.recv().unwrap();
    runner.scratches.store(MANY, Ordering::Relaxed);
    assert_eq!(pool.resize(3).unwrap(), 2);
    drop(Processors::reserve_thread(&pool).unwrap());
    pool.stop();
    machines.join();
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
        pool.wait_quiescent().unwrap();
        assert!(ran.recv().is_err(), "its task is dropped");
        assert_eq!(pool.stats()[0].panicked, index as u64 + 1);
    }
    pool.stop();
    machines.join();
}

/// The same on a thread that tasks are bound to, which has a processor that is lent.
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
        pool.wait_quiescent().unwrap();
    }
    assert_eq!(pool.stats()[0].panicked, 2);
    drop(thread);
    pool.stop();
    machines.join();
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
    pool.stop();
    machines.join();
}
