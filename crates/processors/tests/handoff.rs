//! Blocking calls, resizes, idle priority and quiescence on real threads.
//!
//! No sleeps: who has to wait for somebody waits on a barrier or a channel, and a test that fails may hang, until the
//! watchdog of the test runner.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};

use filch_processors::{
    Config, Machines, NeverQuiescent, Processors, ResizeError, Runner, StartError,
};

type Pool = Processors<Job>;

/// A closure, which is told the pool that it runs in.
struct Job(Box<Work>);

type Work = dyn FnOnce(&Arc<Pool>) + Send;

fn job(work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Job {
    Job(Box::new(work))
}

struct Jobs {
    pool: Arc<Pool>,
}

impl Runner<Job> for Jobs {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, Job(work): Job, (): &mut ()) {
        work(&self.pool);
    }
}

fn started(config: Config) -> (Arc<Pool>, Machines) {
    let pool = Pool::new(config).unwrap();
    let runner = Jobs {
        pool: Arc::clone(&pool),
    };
    let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
    (pool, machines)
}

fn processors(count: usize) -> Config {
    Config::default().processors(count)
}

fn finish(pool: &Arc<Pool>, machines: Machines) {
    pool.stop();
    machines.join();
}

/// Only other tasks can end the call that the first one makes, and there is one processor.
#[test]
fn tasks_run_beside_a_blocking_call() {
    let (pool, machines) = started(processors(1));
    let (to, from) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let before = pool.current();
        let sum: usize = pool.blocking(|| {
            assert!(pool.is_machine());
            assert_eq!(pool.current(), None, "it has given its processor away");
            from.iter().sum()
        });
        assert_eq!((before, pool.current()), (Some(0), Some(0)));
        done.send(sum).unwrap();
    }));
    for number in 1..=100 {
        let to = to.clone();
        pool.inject(job(move |_| to.send(number).unwrap()));
    }
    drop(to);
    assert_eq!(is_done.recv(), Ok(5050));
    finish(&pool, machines);
    let stats = pool.stats();
    assert_eq!(
        (
            stats[0].run,
            stats[0].blocking_calls,
            stats[0].blocked_in_place
        ),
        (101, 1, 0)
    );
}

/// What is in the deque of the processor that is given away is run meanwhile, too.
#[test]
fn the_own_deque_goes_on_during_the_call() {
    let (pool, machines) = started(processors(1));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let (to, from) = mpsc::channel();
        pool.schedule(job(move |_| to.send("from the deque").unwrap()));
        done.send(pool.blocking(|| from.recv().unwrap())).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok("from the deque"));
    finish(&pool, machines);
}

#[test]
fn what_is_scheduled_inside_the_call_runs() {
    let (pool, machines) = started(processors(1));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let answer = pool.blocking(|| {
            let (to, from) = mpsc::channel();
            pool.schedule(job(move |_| to.send(7).unwrap()));
            from.recv().unwrap()
        });
        done.send(answer).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(7));
    finish(&pool, machines);
}

#[test]
fn nested_and_outside_calls_just_run() {
    let (pool, machines) = started(processors(2));
    assert_eq!(pool.blocking(|| 5), 5, "from outside");
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let inner = pool.blocking(|| pool.blocking(|| (pool.current(), 6)));
        let after = pool.current();
        done.send((inner, after)).unwrap();
    }));
    let (inner, after) = is_done.recv().unwrap();
    assert_eq!(inner, (None, 6));
    assert!(after.is_some_and(|processor| processor < 2));
    finish(&pool, machines);
    assert_eq!(
        pool.stats().iter().map(|p| p.blocking_calls).sum::<u64>(),
        1,
        "the outer one"
    );
}

#[test]
fn a_panic_in_the_call_goes_through_and_the_processor_is_back() {
    let (pool, machines) = started(processors(1));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |pool| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.blocking(|| std::panic::panic_any("inside"));
        }));
        let message = *caught.unwrap_err().downcast::<&str>().unwrap();
        done.send((message, pool.current())).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(("inside", Some(0))));
    // One that nobody catches costs its task, and nothing else.
    pool.inject(job(|pool| pool.blocking(|| std::panic::panic_any("alone"))));
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |_| done.send(()).unwrap()));
    is_done.recv().unwrap();
    finish(&pool, machines);
    assert_eq!(pool.stats()[0].panicked, 1);
}

/// A hundred calls wait for each other, on two processors, and end when tasks have run beside all of them. Every task
/// ends, on some processor.
#[test]
fn a_hundred_calls_at_once() {
    const CALLS: usize = 100;
    const TASKS: usize = 10_000;
    let (pool, machines) = started(processors(2));
    let all_block = Arc::new(Barrier::new(CALLS + 1));
    let may_end = Arc::new(Barrier::new(CALLS + 1));
    let ran = Arc::new(AtomicUsize::new(0));
    let (done, is_done) = mpsc::channel();
    for number in 0..CALLS {
        let (all_block, may_end) = (Arc::clone(&all_block), Arc::clone(&may_end));
        let done = done.clone();
        pool.inject(job(move |pool| {
            pool.blocking(|| {
                all_block.wait();
                may_end.wait();
            });
            assert!(pool.current().is_some());
            done.send(number).unwrap();
        }));
    }
    all_block.wait();
    assert_eq!(pool.threads().blocking, CALLS);
    let (tasks_done, tasks_are_done) = mpsc::channel();
    for _ in 0..TASKS {
        let (ran, done) = (Arc::clone(&ran), tasks_done.clone());
        pool.inject(job(move |_| {
            if ran.fetch_add(1, Ordering::Relaxed) + 1 == TASKS {
                done.send(()).unwrap();
            }
        }));
    }
    tasks_are_done.recv().unwrap();
    let dump = pool.dump().to_string();
    assert!(dump.contains("100 in blocking calls"), "{dump}");
    may_end.wait();
    drop(done);
    assert_eq!(
        is_done.iter().collect::<HashSet<_>>(),
        (0..CALLS).collect::<HashSet<_>>()
    );
    pool.wait_quiescent().unwrap();
    let threads = pool.threads();
    assert_eq!((threads.blocking, threads.waiting), (0, 0));
    finish(&pool, machines);
    assert_eq!(pool.threads().threads, 0);
}

/// Calls come back while every processor runs a task that does not end before they go on: they are handed one between two
/// tasks. Many times, with stealing and parking in between.
#[test]
fn threads_that_come_back_get_their_turn_from_busy_processors() {
    const ROUNDS: usize = 2_000;
    let (pool, machines) = started(processors(2));
    let stop = Arc::new(AtomicBool::new(false));
    /// Always one such task for each processor.
    fn busy(stop: Arc<AtomicBool>) -> Job {
        job(move |pool| {
            if !stop.load(Ordering::Relaxed) {
                pool.schedule(busy(stop));
            }
        })
    }
    (0..2).for_each(|_| pool.inject(busy(Arc::clone(&stop))));
    let (done, is_done) = mpsc::channel();
    for round in 0..ROUNDS {
        let done = done.clone();
        pool.inject(job(move |pool| {
            pool.blocking(std::thread::yield_now);
            done.send(round).unwrap();
        }));
    }
    drop(done);
    assert_eq!(is_done.iter().collect::<HashSet<_>>().len(), ROUNDS);
    stop.store(true, Ordering::Relaxed);
    finish(&pool, machines);
}

/// Two threads in all, and both would block: the second keeps its processor, and goes on.
#[test]
fn at_the_thread_limit_a_call_keeps_its_processor() {
    let (pool, machines) = started(processors(1).max_processors(1).thread_limit(2));
    let (to_first, first) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel();
    let second_done = done.clone();
    pool.inject(job(move |pool| {
        pool.blocking(|| first.recv().unwrap());
        done.send("first").unwrap();
    }));
    pool.inject(job(move |pool| {
        pool.blocking(|| assert_eq!(pool.current(), Some(0), "kept"));
        second_done.send("second").unwrap();
        to_first.send(()).unwrap();
    }));
    assert_eq!(is_done.iter().collect::<Vec<_>>(), ["second", "first"]);
    finish(&pool, machines);
    assert_eq!(pool.stats()[0].blocked_in_place, 1);
    let threads = pool.threads();
    assert_eq!((threads.started, threads.refused, threads.limit), (2, 1, 2));
}

/// The system cannot give a stack of half the address space: no pool; and it is said why.
#[test]
fn a_thread_that_the_system_refuses() {
    let config = processors(1).stack_size(usize::MAX / 4);
    let pool = Pool::new(config).unwrap();
    let runner = Arc::new(Jobs {
        pool: Arc::clone(&pool),
    });
    let outcome = Processors::start(&pool, Arc::clone(&runner));
    assert!(matches!(outcome, Err(StartError::Thread(_))), "{outcome:?}");
    assert_eq!(Arc::strong_count(&runner), 1, "nothing is left behind");
    assert!(matches!(
        Processors::start(&pool, runner),
        Err(StartError::Stopped)
    ));
}

/// No more threads without a processor are kept than the configuration says.
#[test]
fn surplus_threads_leave() {
    let (pool, machines) = started(processors(2).spare_threads(3));
    for _ in 0..20 {
        let together = Arc::new(Barrier::new(10));
        for _ in 0..10 {
            let together = Arc::clone(&together);
            pool.inject(job(move |pool| {
                pool.blocking(|| {
                    together.wait();
                });
            }));
        }
        pool.wait_quiescent().unwrap();
        assert!(pool.threads().spares <= 3);
    }
    finish(&pool, machines);
    assert!(pool.threads().started >= 12);
}

#[test]
fn impossible_sizes() {
    assert!(matches!(
        Pool::new(processors(4).max_processors(3)),
        Err(StartError::TooManyProcessors { asked: 4, most: 3 })
    ));
    assert!(matches!(
        Pool::new(processors(4).thread_limit(3)),
        Err(StartError::TooFewThreads {
            limit: 3,
            processors: 4
        })
    ));
    assert!(matches!(
        Pool::new(Config::default().max_processors(0)),
        Err(StartError::NoProcessors)
    ));
    let waiting = Pool::new(processors(1)).unwrap();
    assert!(matches!(waiting.resize(1), Err(ResizeError::NotRunning)));
    let (pool, machines) = started(processors(1).max_processors(3));
    assert!(matches!(pool.resize(0), Err(ResizeError::NoProcessors)));
    assert!(matches!(
        pool.resize(4),
        Err(ResizeError::TooManyProcessors { asked: 4, most: 3 })
    ));
    assert_eq!(pool.resize(3).unwrap(), 1);
    assert_eq!((pool.count(), pool.max_count()), (3, 3));
    finish(&pool, machines);
    assert!(matches!(pool.resize(2), Err(ResizeError::NotRunning)));
}

#[test]
fn a_resize_beyond_the_thread_limit_goes_as_far_as_it_can() {
    let (pool, machines) = started(processors(1).max_processors(8).thread_limit(3));
    assert!(matches!(
        pool.resize(8),
        Err(ResizeError::Thread {
            reached: 3,
            source: None
        })
    ));
    assert_eq!(pool.count(), 3);
    finish(&pool, machines);
}

/// Exactly as many tasks run at once as there are processors, after each change.
#[test]
fn as_many_run_at_once_as_there_are_processors() {
    let (pool, machines) = started(processors(1).max_processors(4));
    for count in [2, 4, 1, 3, 4, 2, 1] {
        pool.resize(count).unwrap();
        // They meet, or this hangs.
        let together = Arc::new(Barrier::new(count));
        for _ in 0..count {
            let together = Arc::clone(&together);
            pool.inject(job(move |pool| {
                assert!(pool.current().is_some_and(|processor| processor < 4));
                together.wait();
            }));
        }
        pool.wait_quiescent().unwrap();
    }
    finish(&pool, machines);
}

/// To one and back, over and over, by two threads at once, while tasks make tasks and block: each runs exactly once.
#[test]
fn resizes_under_load_lose_nothing() {
    const ROOTS: usize = 200;
    const CHILDREN: usize = 50;
    let (pool, machines) = started(processors(2).max_processors(5));
    let ran = Arc::new(Mutex::new(Vec::new()));
    let over = Arc::new(AtomicBool::new(false));
    let resizers: Vec<_> = [[1, 5, 2, 4], [3, 1, 5, 1]]
        .into_iter()
        .map(|sizes| {
            let (pool, over) = (Arc::clone(&pool), Arc::clone(&over));
            std::thread::spawn(move || {
                let mut resizes = 0;
                for size in sizes.into_iter().cycle() {
                    if over.load(Ordering::Relaxed) {
                        return resizes;
                    }
                    pool.resize(size).unwrap();
                    resizes += 1;
                }
                resizes
            })
        })
        .collect();
    for root in 0..ROOTS {
        let ran = Arc::clone(&ran);
        pool.inject(job(move |pool| {
            for child in 0..CHILDREN {
                let ran = Arc::clone(&ran);
                pool.schedule(job(move |pool| {
                    if child % 8 == 0 {
                        pool.blocking(std::thread::yield_now);
                    }
                    ran.lock().unwrap().push(root * CHILDREN + child);
                }));
            }
        }));
    }
    pool.wait_quiescent().unwrap();
    over.store(true, Ordering::Relaxed);
    for resizer in resizers {
        assert!(resizer.join().unwrap() > 0);
    }
    let mut ran = std::mem::take(&mut *ran.lock().unwrap());
    ran.sort_unstable();
    assert_eq!(ran, (0..ROOTS * CHILDREN).collect::<Vec<_>>());
    finish(&pool, machines);
}

/// One that blocks without saying so keeps its processor; the other one runs everything else.
#[test]
fn a_task_that_blocks_unannounced_costs_one_processor() {
    let (pool, machines) = started(processors(2));
    let (to, from) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    pool.inject(job(move |_| {
        let sum: usize = from.iter().sum();
        done.send(sum).unwrap();
    }));
    for number in 1..=100 {
        let to = to.clone();
        pool.inject(job(move |_| to.send(number).unwrap()));
    }
    drop(to);
    assert_eq!(is_done.recv(), Ok(5050));
    finish(&pool, machines);
}

/// On one processor the order is exact: what has idle priority comes last, in its own order.
#[test]
fn idle_priority_comes_last() {
    let pool = Pool::new(processors(1)).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let order = Arc::clone(&order);
        job(move |_| order.lock().unwrap().push(what))
    };
    pool.schedule_idle(note("idle 1"));
    pool.schedule_idle(note("idle 2"));
    pool.inject(note("a"));
    let later = note("c");
    let order_b = Arc::clone(&order);
    pool.inject(job(move |pool| {
        order_b.lock().unwrap().push("b");
        pool.schedule(later);
    }));
    let runner = Jobs {
        pool: Arc::clone(&pool),
    };
    let machines = Processors::start(&pool, Arc::new(runner)).unwrap();
    pool.wait_quiescent().unwrap();
    assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "idle 1", "idle 2"]);
    // It wakes a pool in which nothing else happens, and is run before the threads leave.
    pool.schedule_idle(note("idle 3"));
    pool.wait_quiescent().unwrap();
    pool.schedule_idle(note("idle 4"));
    finish(&pool, machines);
    assert_eq!(order.lock().unwrap()[5..], ["idle 3", "idle 4"]);
    assert_eq!(pool.stats()[0].idle_priority, 4);
}

/// While a call is under way the pool is not quiescent, though everybody is idle; when the pool is quiescent, all that was
/// scheduled has run.
#[test]
fn quiescence_is_exact() {
    let (pool, machines) = started(processors(2));
    let (began, has_begun) = mpsc::channel();
    let (to, from) = mpsc::channel::<()>();
    pool.inject(job(move |pool| {
        pool.blocking(|| {
            began.send(()).unwrap();
            from.recv().unwrap();
        });
    }));
    has_begun.recv().unwrap();
    for _ in 0..1_000 {
        assert!(!pool.is_quiescent());
    }
    to.send(()).unwrap();
    pool.wait_quiescent().unwrap();
    for round in 0..500 {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let ran = Arc::clone(&ran);
            pool.inject(job(move |pool| {
                let inner = Arc::clone(&ran);
                pool.schedule(job(move |pool| {
                    if round % 10 == 0 {
                        pool.blocking(|| ());
                    }
                    inner.fetch_add(1, Ordering::Relaxed);
                }));
            }));
        }
        pool.wait_quiescent().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    }
    finish(&pool, machines);
}

#[test]
fn what_comes_after_the_end_stays() {
    let (pool, machines) = started(processors(2));
    let (to, from) = mpsc::channel();
    let ran = to.clone();
    pool.inject(job(move |_| ran.send("in time").unwrap()));
    finish(&pool, machines);
    assert_eq!(pool.wait_quiescent(), Ok(()));
    pool.inject(job(move |_| to.send("too late").unwrap()));
    assert_eq!(pool.wait_quiescent(), Err(NeverQuiescent));
    assert_eq!(from.recv(), Ok("in time"));
    assert!(from.try_recv().is_err());
    drop(pool);
    assert!(from.recv().is_err(), "dropped with the pool, unrun");
}

/// Tasks that are in blocking calls when the pool is stopped come back, schedule more, and all of it runs.
#[test]
fn a_call_that_outlasts_the_pool() {
    let (pool, machines) = started(processors(2));
    let block = Arc::new(Barrier::new(5));
    let (done, is_done) = mpsc::channel();
    for _ in 0..4 {
        let (block, done) = (Arc::clone(&block), done.clone());
        pool.inject(job(move |pool| {
            pool.blocking(|| {
                block.wait();
                block.wait();
            });
            assert!(pool.current().is_some());
            for _ in 0..10 {
                let done = done.clone();
                pool.schedule(job(move |_| done.send(()).unwrap()));
            }
        }));
    }
    drop(done);
    block.wait();
    pool.stop();
    block.wait();
    machines.join();
    assert_eq!(is_done.iter().count(), 40);
    assert_eq!(pool.threads().threads, 0);
}
