//! Threads that the caller makes, and what every thread is told at once.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use filch_processors::{
    Config, ExternalTask, Machines, NeverQuiescent, PoolError, Processors, Runner, Source, Thread,
};

type Pool = Arc<Processors<u32>>;

/// Tells which thread does what.
struct Tells {
    nudges: mpsc::Sender<usize>,
    tasks: mpsc::Sender<u32>,
    to_panic: AtomicUsize,
    /// It has so much more to do.
    more: AtomicUsize,
}

impl Runner<u32> for Tells {
    type Scratch = ();

    fn scratch(&self, thread: usize) {
        NUMBER.set(thread);
    }

    fn run(&self, task: u32, _: &Pool, (): &mut ()) {
        self.tasks.send(task).unwrap();
    }
}

impl Source for Tells {
    fn take(&self) -> Option<ExternalTask> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn nudged(&self) -> bool {
        self.nudges.send(NUMBER.get()).unwrap();
        if self.to_panic.load(Ordering::Relaxed) > 0 {
            self.to_panic.fetch_sub(1, Ordering::Relaxed);
            panic!("contained");
        }
        let more = |more: usize| more.checked_sub(1);
        let relaxed = Ordering::Relaxed;
        self.more.fetch_update(relaxed, relaxed, more).is_ok()
    }
}

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

struct Told {
    runner: Arc<Tells>,
    nudges: mpsc::Receiver<usize>,
    tasks: mpsc::Receiver<u32>,
}

impl Told {
    /// Counts the owners of the runner.
    fn runners(&self) -> usize {
        Arc::strong_count(&self.runner)
    }
}

fn pool(processors: usize) -> (Pool, Told) {
    let config = Config::default()
        .processors(processors)
        .thread_limit(processors);
    let (nudges, nudged) = mpsc::channel();
    let (tasks, ran) = mpsc::channel();
    let runner = Tells {
        nudges,
        tasks,
        to_panic: AtomicUsize::new(0),
        more: AtomicUsize::new(0),
    };
    let told = Told {
        runner: Arc::new(runner),
        nudges: nudged,
        tasks: ran,
    };
    let pool = Processors::new(config).unwrap();
    pool.attach(Arc::clone(&told.runner)).unwrap();
    (pool, told)
}

/// A failure: it waits before, and this one for ever.
#[test]
fn a_thread_does_not_wait_while_the_source_has_more_to_do() {
    let (pool, told) = pool(1);
    told.runner.more.store(100, Ordering::Relaxed);
    let machines = Processors::start(&pool, Arc::clone(&told.runner)).unwrap();
    for _ in 0..=100 {
        assert_eq!(told.nudges.recv(), Ok(0));
    }
    pool.stop();
    machines.join();
}

#[test]
fn the_callers_threads_run_the_tasks() {
    let (pool, told) = pool(3);
    thread::scope(|scope| {
        let machines = Processors::start_with(&pool, Arc::clone(&told.runner), |thread| {
            scope.spawn(|| thread.run());
            Ok(())
        });
        pool.schedule(7);
        assert_eq!(told.tasks.recv(), Ok(7));
        pool.stop();
        machines.unwrap().join();
    });
    assert_eq!(pool.threads().threads, 0, "each has exited");
}

/// A pool whose threads are kept, and those.
fn late(processors: usize) -> (Pool, Told, Machines, Vec<Thread>) {
    let (pool, told) = pool(processors);
    let mut threads = Vec::new();
    let machines = Processors::start_with(&pool, Arc::clone(&told.runner), |thread| {
        threads.push(thread);
        Ok(())
    });
    (pool, told, machines.unwrap(), threads)
}

/// A failure: the start waits for a thread that this one has yet to run (it hangs).
#[test]
fn threads_may_come_when_the_start_has_returned() {
    let (pool, told, machines, threads) = late(3);
    pool.schedule(7);
    assert!(told.tasks.try_recv().is_err(), "there is no thread");
    let expected = pool.threads();
    assert_eq!((expected.threads, expected.started), (3, 3));
    thread::scope(|scope| {
        for thread in threads {
            scope.spawn(|| thread.run());
        }
        assert_eq!(told.tasks.recv(), Ok(7));
        pool.stop();
        machines.join();
    });
    assert_eq!(pool.threads().threads, 0, "each has exited");
}

/// One comes, one comes when the pool is over, and one never. A failure: the task or the end waits
/// for those that are missing (it hangs).
#[test]
fn the_others_do_without_a_thread_that_does_not_come() {
    let (pool, told, machines, mut threads) = late(3);
    drop(threads.pop());
    let present = threads.pop().unwrap();
    thread::scope(|scope| {
        let present = scope.spawn(|| present.run());
        for task in 0..100 {
            pool.schedule(task);
            assert_eq!(told.tasks.recv(), Ok(task));
        }
        pool.wait_quiescent(None).unwrap();
        pool.stop();
        present.join().unwrap();
    });
    assert_eq!(pool.threads().threads, 1, "it may come any time");
    threads.pop().unwrap().run();
    assert_eq!(pool.threads().threads, 0);
    assert_eq!(told.runners(), 2, "here, and as the source");
    machines.join();
}

/// A failure: the task is lost, as the pool was over before its threads came.
#[test]
fn a_pool_that_is_stopped_waits_for_its_first_thread() {
    let (pool, told, machines, threads) = late(2);
    pool.schedule(7);
    pool.stop();
    for thread in threads {
        thread.run();
    }
    assert_eq!(told.tasks.try_recv(), Ok(7));
    assert_eq!(pool.threads().threads, 0);
    machines.join();
}

/// A failure: the pool waits for threads that will never come (it hangs, or keeps its runner).
#[test]
fn a_pool_ends_when_none_of_its_threads_comes() {
    let (pool, told, machines, threads) = late(2);
    pool.schedule(7);
    pool.stop();
    drop(threads);
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
    let missing = pool.threads();
    assert_eq!(
        (missing.threads, missing.started, missing.refused),
        (0, 0, 2)
    );
    assert_eq!(told.runners(), 2, "here, and as the source");
    machines.join();
}

/// Whichever comes first has the only processor; the other one is a spare thread.
#[test]
fn late_threads_find_fewer_processors() {
    let (pool, told, machines, threads) = late(2);
    assert_eq!(pool.resize(1).unwrap(), 2);
    thread::scope(|scope| {
        for thread in threads.into_iter().rev() {
            scope.spawn(|| thread.run());
            pool.schedule(7);
            assert_eq!(told.tasks.recv(), Ok(7));
        }
        while pool.threads().spares == 0 {
            thread::yield_now();
        }
        assert_eq!(pool.resize(2).unwrap(), 1);
        pool.stop();
    });
    assert_eq!(pool.threads().threads, 0);
    machines.join();
}

#[test]
fn a_thread_that_is_refused_dropped_or_lost_in_a_panic_ends_the_pool() {
    let refusals: [fn(Thread) -> io::Result<()>; 3] = [
        |_| Err(io::ErrorKind::OutOfMemory.into()),
        |thread| {
            drop(thread);
            Ok(())
        },
        |_| panic!("no thread today"),
    ];
    for (refuse, expected) in refusals
        .into_iter()
        .zip(["out of memory", "dropped", "today"])
    {
        let (pool, told) = pool(2);
        let started = Processors::start_with(&pool, told.runner, |thread| match thread.number() {
            0 => {
                thread::spawn(|| thread.run());
                Ok(())
            }
            _ => refuse(thread),
        });
        let error = started.map(drop).unwrap_err();
        assert!(matches!(error, PoolError::Thread(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_thread_that_comes_after_its_refusal_does_not_run() {
    let (pool, told) = pool(1);
    let mut late = None;
    let started = Processors::start_with(&pool, told.runner, |thread| {
        late = Some(thread);
        Err(io::ErrorKind::Other.into())
    });
    assert!(matches!(started, Err(PoolError::Thread(_))));
    late.unwrap().run();
    assert!(told.nudges.try_recv().is_err(), "it never waited for work");
}

/// A failure: the pool waits for it, or its thread does not say what has happened.
#[test]
fn a_thread_without_a_scratch_is_missing() {
    struct NoScratch;

    impl Runner<u32> for NoScratch {
        type Scratch = ();

        fn scratch(&self, _: usize) {
            panic!("no room");
        }

        fn run(&self, _: u32, _: &Pool, (): &mut ()) {}
    }

    let pool = Processors::new(Config::default().processors(2)).unwrap();
    let runner = Arc::new(NoScratch);
    let mut threads = Vec::new();
    let machines = Processors::start_with(&pool, Arc::clone(&runner), |thread| {
        threads.push(thread);
        Ok(())
    });
    let first = threads.pop().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| first.run())).is_err());
    pool.stop();
    for thread in threads {
        let run = catch_unwind(AssertUnwindSafe(|| thread.run()));
        let message = *run.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("no room"), "{message}");
    }
    assert_eq!(pool.threads().threads, 0);
    assert_eq!(Arc::strong_count(&runner), 1, "it has ended");
    machines.unwrap().join();
}

/// One thread is kept, the next one refused: there is no pool for the first one to run.
#[test]
fn a_start_that_failed_gives_its_work_up() {
    let (pool, told) = pool(2);
    pool.schedule(7);
    let mut kept = None;
    let started = Processors::start_with(&pool, Arc::clone(&told.runner), |thread| match kept {
        None => {
            kept = Some(thread);
            Ok(())
        }
        Some(_) => Err(io::ErrorKind::OutOfMemory.into()),
    });
    assert!(matches!(started, Err(PoolError::Thread(_))));
    kept.unwrap().run();
    assert!(told.tasks.try_recv().is_err());
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
    assert_eq!(told.runners(), 2, "here, and as the source");
}

/// It hangs here if a thread that waits does not hear of it.
#[test]
fn each_thread_that_waits_is_nudged() {
    let (pool, told) = pool(3);
    let machines = Processors::start_all(&pool, Arc::clone(&told.runner)).unwrap();
    told.runner.to_panic.store(2, Ordering::Relaxed);
    for _ in 0..100 {
        // What they said of themselves before they were nudged.
        while told.nudges.try_recv().is_ok() {}
        pool.nudge_threads();
        let mut missing = vec![0, 1, 2];
        while !missing.is_empty() {
            let thread = told.nudges.recv().unwrap();
            missing.retain(|&other| other != thread);
        }
    }
    pool.schedule(9);
    assert_eq!(told.tasks.recv(), Ok(9), "a panic there harms nobody");
    pool.stop();
    machines.join();
}

/// A pool without tasks still has threads.
#[test]
fn a_pool_without_a_source_is_not_bothered() {
    struct NoTasks;

    impl Runner<Infallible> for NoTasks {
        type Scratch = ();

        fn scratch(&self, _: usize) {}

        fn run(&self, task: Infallible, _: &Arc<Processors<Infallible>>, (): &mut ()) {
            match task {}
        }
    }

    let pool = Processors::new(Config::default().processors(2)).unwrap();
    let machines = Processors::start(&pool, Arc::new(NoTasks)).unwrap();
    pool.nudge_threads();
    pool.stop();
    machines.join();
}
