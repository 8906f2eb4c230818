//! Threads that the caller makes, and what every thread is told at once.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use filch_processors::{Config, Piece, Processors, Runner, Source, StartError, Thread};

type Pool = Arc<Processors<u32>>;

/// Tells which thread does what.
struct Tells {
    nudges: mpsc::Sender<usize>,
    tasks: mpsc::Sender<u32>,
    to_panic: AtomicUsize,
}

impl Runner<u32> for Tells {
    type Scratch = ();

    fn scratch(&self, thread: usize) {
        NUMBER.set(thread);
    }

    fn run(&self, task: u32, (): &mut ()) {
        self.tasks.send(task).unwrap();
    }
}

impl Source for Tells {
    fn take(&self) -> Option<Piece> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn nudged(&self) {
        self.nudges.send(NUMBER.get()).unwrap();
        if self.to_panic.load(Ordering::Relaxed) > 0 {
            self.to_panic.fetch_sub(1, Ordering::Relaxed);
            panic!("contained");
        }
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
        assert!(matches!(error, StartError::Thread(_)), "{error:?}");
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
    assert!(matches!(started, Err(StartError::Thread(_))));
    late.unwrap().run();
    assert!(told.nudges.try_recv().is_err(), "it never waited for work");
}

/// It hangs here if a thread that waits does not hear of it.
#[test]
fn each_thread_that_waits_is_nudged() {
    let (pool, told) = pool(3);
    let machines = Processors::start(&pool, Arc::clone(&told.runner)).unwrap();
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

        fn run(&self, task: Infallible, (): &mut ()) {
            match task {}
        }
    }

    let pool = Processors::new(Config::default().processors(2)).unwrap();
    let machines = Processors::start(&pool, Arc::new(NoTasks)).unwrap();
    pool.nudge_threads();
    pool.stop();
    machines.join();
}
