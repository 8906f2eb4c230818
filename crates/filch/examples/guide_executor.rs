//! A runtime of one's own, of three crates: two threads that run closures, from deques, a global
//! queue and parkers.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::thread::{self, JoinHandle};

use filch::deque::{Steal, Stealer, Worker};
use filch::injector::Injector;
use filch::parker::{AdaptiveSpinner, Parker, Spin, Unparker};

// ANCHOR: types
/// A job. It gets the deque of its thread, for the jobs that it makes.
type Job = Box<dyn FnOnce(&Local) + Send>;

/// The state that the threads share.
struct Shared {
    /// Jobs from outside.
    injector: Injector<Job>,
    stealers: [Stealer<Job>; 2],
    unparkers: [Unparker; 2],
    /// Set while a thread sleeps, or is about to.
    asleep: [AtomicBool; 2],
    stops: AtomicBool,
}

/// The state of one thread.
struct Local {
    number: usize,
    deque: Worker<Job>,
    shared: Arc<Shared>,
}

struct Executor {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}
// ANCHOR_END: types

// ANCHOR: find
impl Local {
    /// Takes its own youngest job; else a batch from outside; else the other's older half.
    fn find(&self) -> Option<Job> {
        if let Some(job) = self.deque.pop() {
            return Some(job);
        }
        let job = self.shared.injector.pop_batch_into(&self.deque, 16);
        let job = job.or_else(|| self.steal());
        // Meanwhile the other thread saw none of the moving jobs, and may have gone to sleep.
        if !self.deque.is_empty() {
            self.shared.wake_one();
        }
        job
    }

    fn steal(&self) -> Option<Job> {
        let victim = &self.shared.stealers[1 - self.number];
        loop {
            match victim.steal_half_into(&self.deque, usize::MAX) {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                // A lost race says nothing about the remaining jobs.
                Steal::Retry => {}
            }
        }
    }

    fn spawn(&self, job: impl FnOnce(&Local) + Send + 'static) {
        self.deque.push(Box::new(job));
        self.shared.wake_one();
    }
}
// ANCHOR_END: find

// ANCHOR: sleep
impl Shared {
    /// Wakes a thread after a job was made public: first the job, then the fence, then the look.
    fn wake_one(&self) {
        // ORDERING: SeqCst: pairs with the fence in `run`. If that one is later, the thread there
        // finds the job; if it is earlier, this finds the thread asleep.
        fence(Ordering::SeqCst);
        for (asleep, unparker) in self.asleep.iter().zip(&self.unparkers) {
            // ORDERING: Relaxed: the fences order it; only one of several callers wakes the thread.
            if asleep.load(Ordering::Relaxed) && asleep.swap(false, Ordering::Relaxed) {
                unparker.unpark();
                return;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.injector.is_empty() && self.stealers.iter().all(Stealer::is_empty)
    }
}

impl Local {
    fn run(self, parker: &Parker) {
        let (shared, mut spinner) = (&self.shared, AdaptiveSpinner::new());
        loop {
            if let Some(job) = self.find() {
                spinner.reset();
                job(&self);
            } else if spinner.spin() == Spin::Block {
                spinner.reset();
                // ORDERING: Relaxed: the fence orders it.
                shared.asleep[self.number].store(true, Ordering::Relaxed);
                // ORDERING: SeqCst: pairs with the fence in `wake_one`.
                fence(Ordering::SeqCst);
                // ORDERING: Acquire: pairs with the Release in `Executor::finish`: then the look
                // finds whatever was spawned before.
                let stops = shared.stops.load(Ordering::Acquire);
                if shared.is_empty() {
                    if stops {
                        return;
                    }
                    parker.park();
                }
                // ORDERING: Relaxed: a wake-up that comes too late leaves a token, which ends the
                // next sleep early: harmless.
                shared.asleep[self.number].store(false, Ordering::Relaxed);
            }
        }
    }
}
// ANCHOR_END: sleep

// ANCHOR: executor
impl Executor {
    fn start() -> std::io::Result<Self> {
        let (deques, parkers) = (
            [Worker::new(), Worker::new()],
            [Parker::new(), Parker::new()],
        );
        let shared = Arc::new(Shared {
            injector: Injector::new(),
            stealers: [deques[0].stealer(), deques[1].stealer()],
            unparkers: [parkers[0].unparker(), parkers[1].unparker()],
            asleep: Default::default(),
            stops: AtomicBool::new(false),
        });
        let mut threads = Vec::new();
        for (number, (deque, parker)) in deques.into_iter().zip(parkers).enumerate() {
            let shared = Arc::clone(&shared);
            let local = Local {
                number,
                deque,
                shared,
            };
            let name = format!("executor-{number}");
            threads.push(
                thread::Builder::new()
                    .name(name)
                    .spawn(move || local.run(&parker))?,
            );
        }
        Ok(Self { shared, threads })
    }

    fn spawn(&self, job: impl FnOnce(&Local) + Send + 'static) {
        self.shared.injector.push(Box::new(job));
        self.shared.wake_one();
    }

    /// Waits until all jobs have run, and those that they spawned.
    fn finish(self) -> thread::Result<()> {
        // ORDERING: Release: what was spawned before is seen by a thread that leaves.
        self.shared.stops.store(true, Ordering::Release);
        for unparker in &self.shared.unparkers {
            unparker.unpark();
        }
        self.threads.into_iter().try_for_each(JoinHandle::join)
    }
}
// ANCHOR_END: executor

// ANCHOR: run
/// Adds up the numbers by halves.
fn add_up(from: u64, to: u64, sum: Arc<AtomicU64>) -> impl FnOnce(&Local) + Send {
    move |local| {
        if to - from <= 100 {
            // ORDERING: Relaxed: read after the threads have been joined.
            sum.fetch_add((from..to).sum(), Ordering::Relaxed);
        } else {
            let middle = from.midpoint(to);
            local.spawn(add_up(from, middle, Arc::clone(&sum)));
            local.spawn(add_up(middle, to, sum));
        }
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (executor, sum) = (Executor::start()?, Arc::new(AtomicU64::new(0)));
    for start in (0..100_000).step_by(10_000) {
        executor.spawn(add_up(start, start + 10_000, Arc::clone(&sum)));
    }
    executor.finish().map_err(|_| "a job has panicked")?;
    assert_eq!(sum.load(Ordering::Relaxed), 100_000 * 99_999 / 2);
    Ok(())
}
// ANCHOR_END: run
