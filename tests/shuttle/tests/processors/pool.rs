//! A pool whose tasks are closures, with a record of those that have run.

use filch_processors::{BoundId, Config, Processors, Runner};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Barrier, Mutex};
use shuttle::thread;
use shuttle_tests::explore;

/// Runs closures, each on the thread that it is bound to, with the pool at hand.
pub(crate) struct Closures;

pub(crate) struct Task {
    to: Option<BoundId>,
    body: Box<Body>,
}

type Body = dyn FnOnce(&Processors<Task>) + Send;

pub(crate) fn task(body: impl FnOnce(&Processors<Task>) + Send + 'static) -> Task {
    Task {
        to: None,
        body: Box::new(body),
    }
}

impl Task {
    pub(crate) fn bound_to(self, to: BoundId) -> Self {
        Self {
            to: Some(to),
            ..self
        }
    }

    pub(crate) fn run(self, pool: &Processors<Self>) {
        (self.body)(pool);
    }
}

impl Runner<Task> for Closures {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn bound_to(&self, task: &Task) -> Option<BoundId> {
        task.to
    }

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        task.run(pool);
    }
}

/// Starts a pool, lets `work` happen, stops it, and waits for its threads, all of which leave.
/// Returns the pool.
pub(crate) fn with_pool(
    processors: usize,
    work: impl FnOnce(&Arc<Processors<Task>>),
) -> Arc<Processors<Task>> {
    let pool = Processors::new(Config::default().processors(processors)).unwrap();
    let machines = Processors::start(&pool, Arc::new(Closures)).unwrap();
    work(&pool);
    pool.stop();
    machines.join();
    assert_eq!(pool.threads().threads, 0, "a thread is left");
    pool
}

/// A record of numbered tasks that have run.
#[derive(Clone)]
pub(crate) struct Ran(Arc<Mutex<Vec<usize>>>);

impl Ran {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    pub(crate) fn note(&self, number: usize) {
        self.0.lock().unwrap().push(number);
    }

    pub(crate) fn assert_each_once(&self, count: usize) {
        let mut all = self.0.lock().unwrap().clone();
        all.sort_unstable();
        assert!(
            all.iter().copied().eq(0..count),
            "not every task exactly once: {all:?}"
        );
    }
}

/// Has the external task of work run by a pool, in some way.
pub(crate) type Bring = Box<dyn Fn(&Processors<Task>, Box<dyn FnOnce() + Send>) + Send + Sync>;

/// Brings work as a task, which is made runnable in that way.
pub(crate) fn as_a_task(make_runnable: fn(&Processors<Task>, Task)) -> Bring {
    Box::new(move |pool, work| make_runnable(pool, task(move |_| work())))
}

/// Two threads bring work to a pool of one processor, or of two, and the pool is stopped as soon as
/// they have. Each external task must run once.
pub(crate) fn all_run_before_the_stop(claim: &str, bring: fn(&Processors<Task>) -> Bring) {
    for processors in [1, 2] {
        explore(&format!("{claim}: {processors}"), 3_000, move || {
            let ran = Ran::new();
            with_pool(processors, |pool| {
                let bring = Arc::new(bring(pool));
                let threads = [0..2, 2..4].map(|numbers| {
                    let (pool, ran, bring) = (Arc::clone(pool), ran.clone(), Arc::clone(&bring));
                    thread::spawn(move || {
                        for number in numbers {
                            let ran = ran.clone();
                            bring(&pool, Box::new(move || ran.note(number)));
                        }
                    })
                });
                for thread in threads {
                    thread.join().unwrap();
                }
            });
            ran.assert_each_once(4);
        });
    }
}

/// As many external tasks of work as processors, each of which ends only when all have begun,
/// brought while the machines start, search or sleep; twice, so that the second round meets
/// sleepers.
pub(crate) fn all_meet(claim: &str, parties: usize, bring: fn(&Processors<Task>) -> Bring) {
    explore(claim, 2_000, move || {
        with_pool(parties, |pool| {
            let bring = bring(pool);
            for _ in 0..2 {
                let meeting = Arc::new(Barrier::new(parties + 1));
                for _ in 0..parties {
                    let meeting = Arc::clone(&meeting);
                    bring(pool, Box::new(move || _ = meeting.wait()));
                }
                meeting.wait();
            }
        });
    });
}

/// Makes a task that makes itself runnable on its processor, as a partner would, until it is over.
pub(crate) fn restless(over: Arc<AtomicBool>, turns: Arc<AtomicUsize>) -> Task {
    task(move |pool: &Processors<Task>| {
        turns.fetch_add(1, Ordering::SeqCst);
        if !over.load(Ordering::SeqCst) {
            pool.schedule(restless(Arc::clone(&over), Arc::clone(&turns)));
        }
    })
}

/// Makes three endings, the last of which says that all is over.
pub(crate) fn three_ends(over: &Arc<AtomicBool>) -> [impl FnOnce() + Send + 'static; 3] {
    let left = Arc::new(AtomicUsize::new(3));
    [(); 3].map(|()| {
        let (over, left) = (Arc::clone(over), Arc::clone(&left));
        move || {
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                over.store(true, Ordering::SeqCst);
            }
        }
    })
}
