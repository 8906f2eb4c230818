//! Guests: threads from outside that run the task that they wait for, on a processor that is idle.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread::{self, ThreadId};

use filch_processors::{
    Awaited, BoundId, Config, ExternalTask, Inside, Machines, Processors, Runner, Source,
};

use crate::pool::{finish, processors};

type Pool = Processors<Task>;

/// A closure with a number, which is told its pool.
pub(crate) struct Task {
    number: u64,
    bound_to: Option<BoundId>,
    work: Box<Work>,
}

type Work = dyn FnOnce(&Arc<Pool>) + Send;

pub(crate) fn task(number: u64, work: impl FnOnce(&Arc<Pool>) + Send + 'static) -> Task {
    Task {
        number,
        bound_to: None,
        work: Box::new(work),
    }
}

struct Tasks;

impl Runner<Task> for Tasks {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        task.bound_to
    }

    fn label(&self, task: &Task) -> Option<NonZeroU64> {
        NonZeroU64::new(task.number)
    }

    fn run(&self, task: Task, pool: &Arc<Pool>, (): &mut ()) {
        (task.work)(pool);
    }
}

/// Waits for tasks of that number, until the flag is up.
pub(crate) struct Waits {
    number: u64,
    over: AtomicBool,
    needs_others: bool,
}

impl Waits {
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Self::with(number, false)
    }

    pub(crate) fn with(number: u64, needs_others: bool) -> Arc<Self> {
        Arc::new(Self {
            number,
            over: AtomicBool::new(false),
            needs_others,
        })
    }

    fn end(&self) {
        self.over.store(true, Ordering::Release);
    }
}

impl Awaited<Task> for Waits {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn is(&self, task: &Task) -> bool {
        task.number == self.number
    }

    fn needs_others(&self) -> bool {
        self.needs_others
    }
}

/// All of its processors are idle.
pub(crate) fn idle(config: Config) -> (Arc<Pool>, Machines) {
    let pool = Pool::new(config).unwrap();
    let machines = Processors::start(&pool, Arc::new(Tasks)).unwrap();
    pool.wait_quiescent(None).unwrap();
    (pool, machines)
}

/// A task that says on which thread it runs.
pub(crate) fn telling(number: u64) -> (Task, mpsc::Receiver<ThreadId>) {
    let (ran, on) = mpsc::channel();
    let task = task(number, move |pool| {
        assert!(pool.is_machine() && pool.current().is_some());
        ran.send(thread::current().id()).unwrap();
    });
    (task, on)
}

pub(crate) fn own() -> ThreadId {
    thread::current().id()
}

/// A failure: a thread of the pool runs it, or the processor does not come back.
#[test]
fn it_runs_its_task_on_its_own_thread_and_gives_the_processor_back() {
    let (pool, machines) = idle(processors(1));
    for _ in 0..100 {
        let (task, on) = telling(1);
        pool.run_awaited(task, &*Waits::new(1));
        assert_eq!(on.try_recv(), Ok(own()));
        assert!(!pool.is_machine() && pool.is_quiescent());
    }
    assert_eq!((pool.stats()[0].visits, pool.stats()[0].wake_ups), (100, 0));
    let (task, on) = telling(2);
    pool.inject(task);
    assert_ne!(on.recv(), Ok(own()), "the pool's thread is still there");
    finish(&pool, machines);
}

/// A failure: its second turn is another thread's, though nobody else wants the processor.
#[test]
fn it_goes_on_with_its_task_until_the_wait_is_over() {
    fn turn(left: u32, waits: Arc<Waits>, ran: mpsc::Sender<ThreadId>) -> Task {
        task(1, move |pool| {
            ran.send(own()).unwrap();
            match left {
                0 => waits.end(),
                _ => pool.give_way_at_end(turn(left - 1, waits, ran)),
            }
        })
    }
    let (pool, machines) = idle(processors(2).clock(stopped));
    let waits = Waits::new(1);
    let (ran, on) = mpsc::channel();
    pool.run_awaited(turn(9, Arc::clone(&waits), ran), &*waits);
    assert_eq!(on.try_iter().collect::<Vec<_>>(), [own(); 10]);
    assert_eq!(pool.stats()[0].visits + pool.stats()[1].visits, 1);
    finish(&pool, machines);
}

/// The time does not pass, and so no visit takes too long.
pub(crate) fn stopped() -> std::time::Instant {
    static NOW: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    *NOW.get_or_init(std::time::Instant::now)
}

/// More of them than there are places for guests, one after the other. A failure: the call of the
/// one task, which only the other one ends, keeps the only processor.
#[test]
fn its_blocking_call_gives_the_processor_to_the_pools_thread() {
    const GUESTS: u64 = 300;
    let (pool, machines) = idle(processors(1).thread_limit(4));
    let before = pool.threads();
    for _ in 0..GUESTS {
        let (to, from) = mpsc::channel();
        let blocking = task(1, move |pool| {
            pool.inject(task(2, move |_| to.send(own()).unwrap()));
            let other = pool.blocking(|| {
                assert_eq!(pool.current(), None, "it has given its processor away");
                from.recv().unwrap()
            });
            assert_ne!(other, own());
            assert_eq!(pool.current(), Some(0), "it has one again");
        });
        pool.run_awaited(blocking, &*Waits::new(1));
        pool.wait_quiescent(None).unwrap();
    }
    let after = pool.threads();
    assert_eq!(
        (after.threads, after.bound, after.blocking, after.started),
        (before.threads, 0, 0, before.started),
        "the guests have left no place behind"
    );
    let stats = pool.stats()[0];
    assert_eq!(
        (stats.visits, stats.blocking_calls, stats.blocked_in_place),
        (GUESTS, GUESTS, 0)
    );
    finish(&pool, machines);
}

#[test]
fn a_panic_costs_the_task_alone() {
    let (pool, machines) = idle(processors(1));
    let panics = task(1, |pool| {
        pool.blocking(|| panic!("on purpose"));
    });
    pool.run_awaited(panics, &*Waits::new(1));
    assert!(!pool.is_machine());
    pool.wait_quiescent(None).unwrap();
    assert_eq!((pool.stats()[0].run, pool.stats()[0].panicked), (1, 1));
    let (task, on) = telling(1);
    pool.run_awaited(task, &*Waits::new(1));
    assert_eq!(on.try_recv(), Ok(own()));
    finish(&pool, machines);
}

/// While the only processor is busy. A failure: the task runs here all the same, or is lost.
#[test]
fn without_an_idle_processor_it_is_scheduled() {
    let (pool, machines) = idle(processors(1));
    let busy = Arc::new(Barrier::new(2));
    let there = Arc::clone(&busy);
    pool.inject(task(2, move |_| {
        there.wait();
        there.wait();
    }));
    busy.wait();
    let (task, on) = telling(1);
    pool.run_awaited(task, &*Waits::new(1));
    assert!(on.try_recv().is_err());
    busy.wait();
    assert_ne!(on.recv(), Ok(own()));
    finish(&pool, machines);
}

struct NoExternalTasks;

impl Source for NoExternalTasks {
    fn take(&self) -> Option<ExternalTask> {
        None
    }

    fn is_empty(&self) -> bool {
        true
    }
}

/// A failure of each: the task runs here.
#[test]
fn some_pools_have_no_guests() {
    let no_guests = |pool: &Arc<Pool>| {
        let (task, on) = telling(1);
        pool.run_awaited(task, &*Waits::new(1));
        assert_ne!(on.recv(), Ok(own()));
    };
    for config in [
        processors(1).guests(false),
        processors(1).stack_size(1 << 21),
    ] {
        let (pool, machines) = idle(config);
        no_guests(&pool);
        finish(&pool, machines);
    }
    let (pool, machines) = idle(processors(1));
    pool.attach(Arc::new(NoExternalTasks)).unwrap();
    pool.wait_quiescent(None).unwrap();
    no_guests(&pool);
    // A thread of another pool, in a task of that.
    let (other, others) = idle(processors(1));
    let (inner, on_inner) = telling(1);
    let host = Arc::clone(&other);
    let (done, is_done) = mpsc::channel();
    other.inject(task(1, move |_| {
        let second = Pool::new(processors(1)).unwrap();
        let machines = Processors::start(&second, Arc::new(Tasks)).unwrap();
        second.wait_quiescent(None).unwrap();
        second.run_awaited(inner, &*Waits::new(1));
        assert_ne!(on_inner.recv(), Ok(own()));
        assert!(host.is_machine());
        finish(&second, machines);
        done.send(()).unwrap();
    }));
    assert_eq!(is_done.recv(), Ok(()));
    finish(&other, others);
    finish(&pool, machines);
}

/// A failure: it runs on the caller's thread, which it is not bound to.
#[test]
fn a_bound_task_runs_on_its_thread() {
    let (pool, machines) = idle(processors(2));
    let thread = Processors::reserve_thread(&pool).unwrap();
    let (task, on) = telling(1);
    let bound_to = Some(thread.id());
    pool.run_awaited(Task { bound_to, ..task }, &*Waits::new(1));
    let first = on.recv().unwrap();
    let (task, on) = telling(1);
    pool.run_awaited(Task { bound_to, ..task }, &*Waits::new(1));
    assert_eq!(on.recv(), Ok(first));
    assert_ne!(first, own());
    drop(thread);
    finish(&pool, machines);
}

/// One processor runs a task that keeps it, the other one is idle, and what comes next in the
/// global queue is another's task, or our own. A failure: the other's runs here, or ours does not
/// run.
#[test]
fn who_helps_runs_its_own_task_if_that_comes_next() {
    let (pool, machines) = idle(processors(1));
    pool.help(&*Waits::new(1));
    assert_eq!(pool.stats()[0].visits, 0, "there is nothing");
    for others_comes_first in [false, true] {
        // A pool that does not run yet has both in its queue.
        let late = Pool::new(processors(1)).unwrap();
        let (ours, on_ours) = telling(1);
        let (others, on_others) = telling(2);
        if others_comes_first {
            late.inject(others);
        }
        late.inject(ours);
        late.help(&*Waits::new(1));
        assert!(on_ours.try_recv().is_err(), "no processor is idle");
        let machines = Processors::start(&late, Arc::new(Tasks)).unwrap();
        late.help(&*Waits::new(1));
        on_ours.recv().unwrap();
        if others_comes_first {
            assert_ne!(on_others.recv(), Ok(own()));
        }
        finish(&late, machines);
    }
    finish(&pool, machines);
}

/// The pool is stopped and resized while a guest runs. A failure: the threads exit beside it, or
/// never.
#[test]
fn a_stop_and_a_resize_wait_for_it() {
    let (pool, machines) = idle(processors(2));
    let inside = Arc::new(Barrier::new(2));
    let (guest_pool, guest_inside) = (Arc::clone(&pool), Arc::clone(&inside));
    let guest = thread::spawn(move || {
        let task = task(1, move |_| {
            guest_inside.wait();
            guest_inside.wait();
        });
        guest_pool.run_awaited(task, &*Waits::new(1));
    });
    inside.wait();
    Processors::resize(&pool, 1).unwrap();
    assert_eq!(pool.count(), 1);
    pool.stop();
    assert!(!pool.is_quiescent());
    assert!(pool.threads().threads > 0, "they wait for the guest");
    inside.wait();
    guest.join().unwrap();
    machines.join();
    assert_eq!(pool.threads().threads, 0);
}

/// A failure: whoever waits for the pool no longer does not see what it does.
#[test]
fn it_is_shown() {
    let (pool, machines) = idle(processors(1).thread_name("host"));
    let (go_on, gate) = mpsc::channel::<()>();
    let guest_pool = Arc::clone(&pool);
    let guest = thread::spawn(move || {
        let waiting = task(7, move |pool| {
            gate.recv().unwrap();
            pool.blocking(|| gate.recv().unwrap());
        });
        guest_pool.run_awaited(waiting, &*Waits::new(7));
    });
    let shown = |inside| loop {
        match pool.running().as_slice() {
            [task] if task.inside == inside && task.label == NonZeroU64::new(7) => {
                break task.thread.clone();
            }
            _ => thread::yield_now(),
        }
    };
    assert_eq!(shown(Inside::Task), "a guest of host-0");
    let dump = pool.dump().to_string();
    assert!(dump.contains("where a guest runs task 7"), "{dump}");
    go_on.send(()).unwrap();
    shown(Inside::BlockingCall);
    assert!(!pool.dump().to_string().contains("where a guest runs"));
    go_on.send(()).unwrap();
    guest.join().unwrap();
    assert_eq!(pool.running(), []);
    finish(&pool, machines);
}
