//! Work that is no task: external tasks of a source.

use std::env;
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Instant;

use filch_injector::Injector;
use filch_processors::{ExternalTask, NeverQuiescent, PoolError, Processors, Source};

use crate::pool::{Jobs, Pool, finish, job, processors, started};

type Work = Box<dyn FnOnce() + Send>;

/// Closures, first in, first out.
#[derive(Default)]
struct Closures(Injector<Work>);

impl Closures {
    fn put(&self, work: impl FnOnce() + Send + 'static) {
        self.0.push(Box::new(work));
    }
}

impl Source for Closures {
    fn take(&self) -> Option<ExternalTask> {
        unsafe fn run(data: NonNull<()>) {
            // SAFETY: from a box, below, and called once.
            let work: Box<Work> = unsafe { Box::from_raw(data.cast().as_ptr()) };
            work();
        }

        let work = Box::leak(Box::new(self.0.pop()?));
        // SAFETY: it is the external task's alone, may go to any thread, and lasts until it is run.
        Some(unsafe { ExternalTask::new(NonNull::from(work).cast(), run) })
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn attached(pool: &Pool) -> Arc<Closures> {
    let source = Arc::new(Closures::default());
    pool.attach(Arc::clone(&source)).unwrap();
    source
}

/// Puts an external task into the source, and says so.
fn offer(pool: &Pool, source: &Closures, work: impl FnOnce() + Send + 'static) {
    source.put(work);
    pool.notify();
}

fn external_tasks(pool: &Pool) -> u64 {
    pool.stats()
        .iter()
        .map(|processor| processor.external_tasks)
        .sum()
}

/// On one processor, where no time passes and so no look is due, the order is exact: tasks,
/// external tasks, what has idle priority.
#[test]
fn external_tasks_come_after_tasks_and_before_idle_priority() {
    fn stands_still() -> Instant {
        static NOW: OnceLock<Instant> = OnceLock::new();
        *NOW.get_or_init(Instant::now)
    }

    let pool = Pool::new(processors(1).clock(stands_still)).unwrap();
    let source = attached(&pool);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let order = Arc::clone(&order);
        move || order.lock().unwrap().push(what)
    };
    let as_job = |what| {
        let note = note(what);
        job(move |_| note())
    };
    pool.schedule_idle(as_job("idle"));
    offer(&pool, &source, note("external task 1"));
    let (scheduled, first) = (as_job("task c"), note("external task 2"));
    offer(&pool, &source, {
        let pool = Arc::clone(&pool);
        move || {
            first();
            pool.schedule(scheduled);
        }
    });
    offer(&pool, &source, note("external task 3"));
    pool.give_way(as_job("task b"));
    pool.inject(as_job("task a"));
    let machines = Processors::start(&pool, Arc::new(Jobs)).unwrap();
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
    let expected = [
        "task a",
        "task b",
        "external task 1",
        "external task 2",
        "task c",
        "external task 3",
        "idle",
    ];
    assert_eq!(*order.lock().unwrap(), expected);
    let stats = pool.stats()[0];
    assert_eq!(
        (stats.external_tasks, stats.run, stats.scheduled),
        (3, 4, 1)
    );
}

/// An external task has a processor, and gives it away for a call, which waits for another external
/// task.
#[test]
fn an_external_task_has_a_processor_and_gives_it_away() {
    let (pool, machines) = started(processors(1));
    let source = attached(&pool);
    let (to, from) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let (inner, again) = (Arc::clone(&pool), Arc::clone(&source));
    offer(&pool, &source, move || {
        assert!(inner.is_machine());
        assert_eq!(inner.current(), Some(0));
        offer(&inner, &again, move || to.send(7).unwrap());
        let answer = inner.blocking(|| from.recv().unwrap());
        done.send((answer, inner.current())).unwrap();
    });
    assert_eq!(is_done.recv(), Ok((7, Some(0))));
    finish(&pool, machines);
    let stats = pool.stats()[0];
    assert_eq!((stats.external_tasks, stats.blocking_calls), (2, 1));
    assert_eq!(stats.blocked_in_place, 0);
}

#[test]
fn a_second_source_is_refused() {
    let pool = Pool::new(processors(1)).unwrap();
    attached(&pool);
    let second = Arc::new(Closures::default());
    let refused = pool.attach(second).unwrap_err();
    assert!(refused.to_string().contains("already"), "{refused}");
}

/// A failure: the thread is gone; or the panic is taken for another external task's.
#[test]
fn an_external_task_that_panics_costs_itself() {
    let (pool, machines) = started(processors(1));
    let source = attached(&pool);
    let ran = Arc::new(AtomicUsize::new(0));
    for number in 0..10 {
        let ran = Arc::clone(&ran);
        offer(&pool, &source, move || {
            assert_ne!(
                number % 3,
                1,
                "an external task's own panic, wanted by the test"
            );
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    finish(&pool, machines);
    assert_eq!(ran.load(Ordering::Relaxed), 7);
    let stats = pool.stats()[0];
    assert_eq!((stats.external_tasks, stats.panicked), (10, 3));
}

/// External tasks make external tasks, on two processors and then one and then three, and some
/// block. Quiescence comes when the last one has run, and so does the end of a pool that is
/// stopped.
#[test]
fn quiescence_and_the_end_wait_for_external_tasks() {
    fn plant(pool: &Arc<Pool>, source: &Arc<Closures>, ran: &Arc<AtomicUsize>, height: usize) {
        ran.fetch_add(1, Ordering::Relaxed);
        if height == 0 {
            return pool.blocking(|| ());
        }
        for _ in 0..2 {
            let (inner, again) = (Arc::clone(pool), Arc::clone(source));
            let ran = Arc::clone(ran);
            offer(pool, source, move || {
                plant(&inner, &again, &ran, height - 1);
            });
        }
    }

    for round in 0..200 {
        let (pool, machines) = started(processors(2));
        let source = attached(&pool);
        let ran = Arc::new(AtomicUsize::new(0));
        plant(&pool, &source, &ran, 4);
        if round % 2 == 0 {
            for count in [1, 3] {
                let resized = pool.resize(count);
                assert!(!matches!(resized, Err(PoolError::Stopped)));
            }
            pool.wait_quiescent(None).unwrap();
            assert_eq!(ran.load(Ordering::Relaxed), 31);
        }
        finish(&pool, machines);
        assert_eq!(ran.load(Ordering::Relaxed), 31);
        assert_eq!(external_tasks(&pool), 30);
    }
}

/// Two external tasks, one after the other, and a dump in each. A failure: the thread is said to
/// have been in the same task ever since the first.
#[test]
fn a_dump_knows_one_external_task_from_the_next() {
    let (pool, machines) = started(processors(1));
    let source = attached(&pool);
    let (began, has_begun) = mpsc::channel();
    let (go, may_go) = mpsc::channel();
    let may_go = Arc::new(Mutex::new(may_go));
    for _ in 0..2 {
        let (began, may_go) = (began.clone(), Arc::clone(&may_go));
        source.put(move || {
            began.send(()).unwrap();
            may_go.lock().unwrap().recv().unwrap();
        });
    }
    pool.notify();
    has_begun.recv().unwrap();
    let dump = pool.dump().to_string();
    assert!(
        dump.contains("source: not empty") && dump.contains("external tasks 1,"),
        "{dump}"
    );
    go.send(()).unwrap();
    has_begun.recv().unwrap();
    let dump = pool.dump().to_string();
    assert!(
        dump.contains("source: empty") && dump.contains("external tasks 2,"),
        "{dump}"
    );
    assert!(!dump.contains("the same for"), "{dump}");
    go.send(()).unwrap();
    finish(&pool, machines);
}

/// An external task that comes too late does not run, and a thread that waits for it is told.
#[test]
fn an_external_task_for_a_pool_that_is_over_stays() {
    let (pool, machines) = started(processors(1));
    let source = attached(&pool);
    finish(&pool, machines);
    offer(&pool, &source, || unreachable!("the pool is over"));
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
    assert!(!source.is_empty());
}

/// A task schedules itself until an external task has run, on each processor. A failure: a hang: no
/// processor ever searches, and the source starves.
#[test]
fn tasks_that_never_rest_leave_external_tasks_their_turn() {
    fn restless(pool: &Arc<Pool>, over: Arc<AtomicBool>) {
        if !over.load(Ordering::Relaxed) {
            pool.schedule(job(move |pool| restless(pool, over)));
        }
    }

    for count in [1, 2] {
        let (pool, machines) = started(processors(count));
        let source = attached(&pool);
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..2 * count {
            let over = Arc::clone(&over);
            pool.inject(job(move |pool| restless(pool, over)));
        }
        let (ran, has_run) = mpsc::channel();
        for _ in 0..100 {
            let ran = ran.clone();
            offer(&pool, &source, move || ran.send(()).unwrap());
            has_run.recv().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        finish(&pool, machines);
    }
}

/// Two tasks block over and over, and whenever one of them gives the processor away, the other one
/// is back and waits for it. An external task runs nevertheless, and before long.
#[test]
fn calls_that_never_end_do_not_starve_the_source() {
    const MANY: usize = 1_000;
    let (pool, machines) = started(processors(1));
    let source = attached(&pool);
    let calls = Arc::new(AtomicUsize::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let loops = {
        let (calls, over) = (Arc::clone(&calls), Arc::clone(&over));
        move |pool: &Arc<Pool>| {
            let is_over = || over.load(Ordering::Relaxed);
            while !is_over() {
                while pool.threads().waiting == 0 && !is_over() {
                    std::thread::yield_now();
                }
                if calls.fetch_add(1, Ordering::Relaxed) == MANY {
                    over.store(true, Ordering::Relaxed);
                }
                pool.blocking(|| ());
            }
        }
    };
    let (second_runs, until_second_runs) = mpsc::channel();
    let second = loops.clone();
    pool.inject(job(move |pool| {
        pool.blocking(|| until_second_runs.recv().unwrap());
        offer(pool, &source, move || over.store(true, Ordering::Relaxed));
        loops(pool);
    }));
    pool.inject(job(move |pool| {
        second_runs.send(()).unwrap();
        second(pool);
    }));
    finish(&pool, machines);
    let calls = calls.load(Ordering::Relaxed);
    assert!(calls <= 2 * 16, "after {calls} calls");
    assert_eq!(external_tasks(&pool), 1);
}

/// It breaks its contract.
struct Panics;

impl Source for Panics {
    fn take(&self) -> Option<ExternalTask> {
        panic!("wanted by the test")
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// A failure: it hangs, since a processor is lost.
#[test]
fn a_source_that_panics_ends_the_program() {
    const INSIDE: &str = "FILCH_TEST_A_SOURCE_PANICS";
    if env::var_os(INSIDE).is_some() {
        let (pool, machines) = started(processors(1));
        pool.attach(Arc::new(Panics)).unwrap();
        return finish(&pool, machines);
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "source::a_source_that_panics_ends_the_program"])
        .arg("--nocapture")
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("a source of work panicked"), "{said}");
}
