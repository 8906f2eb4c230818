//! A worker loop, with the protocol by which workers fall asleep and are woken.
//!
//! Each worker owns a deque (`filch-deque`), all share a global queue (`filch-injector`), and each
//! sleeps on a parker of this crate. The whole difficulty is one race:
//!
//! ```text
//! worker                                 producer
//!   looks everywhere, finds nothing
//!                                          pushes a task
//!                                          sees no sleeper, wakes nobody
//!   sleeps                                 the task waits for ever
//! ```
//!
//! The cure is a handshake. Each side says what it does, passes a fence, and then looks at what the
//! other side said:
//!
//! ```text
//! worker                                 producer
//!   1. announces that it sleeps            1. pushes a task
//!   2. fence(SeqCst)                       2. fence(SeqCst)
//!   3. looks everywhere once more          3. looks for sleepers
//!   4. nothing: parks                      4. one: unparks it
//! ```
//!
//! One of the two fences is first in the order of all of them. If it is the worker's, the producer
//! sees the announcement. If it is the producer's, the worker's second look sees the task. Either
//! way the task is run. (Both may happen: then a worker is woken for nothing, and looks again.)
//!
//! A parker never forgets: an unpark that comes between steps 3 and 4 leaves a token, and `park`
//! returns at once.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use filch_deque::{Steal, Stealer, Worker};
use filch_injector::Injector;
use filch_parker::{AdaptiveSpinner, Parker, Spin, Unparker};

const WORKERS: usize = 4;
const NUMBERS: u64 = 1_000_000;

/// Numbers to be added up. A long range becomes two tasks.
type Task = Range<u64>;

/// The state that all workers share.
struct Pool {
    global: Injector<Task>,
    stealers: Vec<Stealer<Task>>,
    unparkers: Vec<Unparker>,
    /// The workers that have announced their sleep.
    sleepers: Mutex<Vec<usize>>,
    /// Their number: the word that a producer reads after its fence.
    asleep: AtomicUsize,
    /// Tasks that are not done, and one for the producer outside as long as there will be more.
    pending: AtomicUsize,
    finished: AtomicBool,
    sum: AtomicU64,
    sleeps: AtomicUsize,
}

impl Pool {
    /// Wakes a worker, if one sleeps. Call it after making tasks public.
    fn wake_one(&self) {
        // Step 2 of the producer. ORDERING: SeqCst pairs with the fence in `announce`: what was
        // made public before this one, or what was announced before that one, is seen by the other
        // side.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed: the fences order it.
        if self.asleep.load(Ordering::Relaxed) == 0 {
            return;
        }
        let chosen = {
            let mut sleepers = self.sleepers();
            let chosen = sleepers.pop();
            self.count(&sleepers);
            chosen
        };
        if let Some(worker) = chosen {
            self.unparkers[worker].unpark();
        }
    }

    /// Steps 1 and 2 of a worker.
    fn announce(&self, worker: usize) {
        {
            let mut sleepers = self.sleepers();
            sleepers.push(worker);
            self.count(&sleepers);
        }
        // Step 2. ORDERING: SeqCst pairs with the fence in `wake_one`.
        fence(Ordering::SeqCst);
    }

    /// Takes the worker off the list, if no waker has: it is awake again.
    fn retract(&self, worker: usize) {
        let mut sleepers = self.sleepers();
        sleepers.retain(|&sleeper| sleeper != worker);
        self.count(&sleepers);
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<usize>> {
        self.sleepers.lock().expect("no worker panics")
    }

    fn count(&self, sleepers: &[usize]) {
        // ORDERING: Relaxed: the lock orders the stores, a fence follows where one is needed.
        self.asleep.store(sleepers.len(), Ordering::Relaxed);
    }

    /// Step 3 of a worker: returns whether there is a reason to stay awake.
    fn has_work(&self) -> bool {
        // ORDERING: Relaxed: after the fence of `announce`; pairs with the fence of `finish`.
        self.finished.load(Ordering::Relaxed)
            || !self.global.is_empty()
            || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Counts a task as done. The last one ends the pool.
    fn done(&self) {
        // ORDERING: AcqRel: the last one to be done comes after all others.
        if self.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.finish();
        }
    }

    fn finish(&self) {
        // ORDERING: Release: pairs with the Acquire in `work`. The fence is the producer's, as in
        // `wake_one`.
        self.finished.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        for worker in self.sleepers().drain(..) {
            self.unparkers[worker].unpark();
        }
    }

    /// Takes a worker's next task: its deque's youngest; else a batch of the global queue; else
    /// half of another worker's deque.
    fn find_work(&self, me: usize, own: &Worker<Task>) -> Option<Task> {
        if let Some(task) = own.pop() {
            return Some(task);
        }
        let task = self
            .global
            .pop_batch_into(own, 16)
            .or_else(|| self.steal(me, own));
        // No other worker could see the stolen batch on its way, and one may have fallen
        // asleep meanwhile. The batch is public now: a worker that moves tasks is a producer, too.
        if task.is_some() && !own.is_empty() {
            self.wake_one();
        }
        task
    }

    fn steal(&self, me: usize, own: &Worker<Task>) -> Option<Task> {
        loop {
            let victims = (1..WORKERS).map(|offset| &self.stealers[(me + offset) % WORKERS]);
            let round: Steal<Task> = victims
                .map(|victim| victim.steal_half_into(own, 32))
                .collect();
            match round {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                // A lost race is not emptiness: look again before a sleep.
                Steal::Retry => {}
            }
        }
    }

    fn run(&self, task: Task, own: &Worker<Task>) {
        let length = task.end - task.start;
        if length > 1_000 {
            let middle = task.start + length / 2;
            // ORDERING: Relaxed: this task is pending itself, so the count does not reach zero.
            self.pending.fetch_add(2, Ordering::Relaxed);
            own.push(task.start..middle);
            own.push(middle..task.end);
            self.wake_one();
        } else {
            // ORDERING: Relaxed: read after the threads were joined.
            self.sum.fetch_add(task.sum(), Ordering::Relaxed);
        }
        self.done();
    }

    /// The loop.
    fn work(&self, me: usize, own: &Worker<Task>, parker: &Parker) {
        let mut spinner = AdaptiveSpinner::new();
        // ORDERING: Acquire: pairs with the Release in `finish`.
        while !self.finished.load(Ordering::Acquire) {
            if let Some(task) = self.find_work(me, own) {
                spinner.reset();
                self.run(task, own);
                continue;
            }
            // A short look-out first: a sleep and a wake-up cost microseconds.
            if spinner.spin() == Spin::Again {
                continue;
            }
            self.announce(me);
            if !self.has_work() {
                // ORDERING: Relaxed: read after the threads were joined.
                self.sleeps.fetch_add(1, Ordering::Relaxed);
                parker.park();
            }
            // Woken, or awake after the second look. A token that came too late for this sleep ends
            // the next one early, which is harmless.
            self.retract(me);
            spinner.reset();
        }
    }
}

fn main() {
    let parkers: [Parker; WORKERS] = std::array::from_fn(|_| Parker::new());
    let deques: [Worker<Task>; WORKERS] = std::array::from_fn(|_| Worker::new());
    let pool = Pool {
        global: Injector::new(),
        stealers: deques.iter().map(Worker::stealer).collect(),
        unparkers: parkers.iter().map(Parker::unparker).collect(),
        sleepers: Mutex::default(),
        asleep: AtomicUsize::new(0),
        pending: AtomicUsize::new(1),
        finished: AtomicBool::new(false),
        sum: AtomicU64::new(0),
        sleeps: AtomicUsize::new(0),
    };
    thread::scope(|scope| {
        for (me, (own, parker)) in deques.into_iter().zip(parkers).enumerate() {
            let pool = &pool;
            scope.spawn(move || pool.work(me, &own, &parker));
        }
        // A producer from outside, which lets the workers run dry now and then.
        for start in (0..NUMBERS).step_by(50_000) {
            // ORDERING: Relaxed: the producer's own count keeps it above zero.
            pool.pending.fetch_add(1, Ordering::Relaxed);
            pool.global.push(start..start + 50_000);
            pool.wake_one();
            for _ in 0..100 {
                thread::yield_now();
            }
        }
        pool.done();
    });
    assert_eq!(pool.sum.into_inner(), NUMBERS * (NUMBERS - 1) / 2);
    assert!(pool.global.is_empty() && pool.stealers.iter().all(Stealer::is_empty));
    println!("{WORKERS} workers slept {} times", pool.sleeps.into_inner());
}
