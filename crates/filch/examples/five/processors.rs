//! Processors and threads: a thread needs a processor to run tasks, and gives it away in a call.

use std::ops::{Add, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use filch::processors::{Config, ProcessorStats, Processors, Runner};

use crate::{HOPS, NUMBERS, Programs, SHORTS, halves, none};

pub(crate) const PROGRAMS: Programs = [tree, ring, long, none, none];

type Pool = Arc<Processors<Task>>;

struct Task(Box<dyn FnOnce(&Pool) + Send>);
struct Calls;

impl Runner<Task> for Calls {
    type Scratch = ();
    fn scratch(&self, _thread: usize) {}
    fn run(&self, task: Task, pool: &Pool, (): &mut ()) {
        (task.0)(pool);
    }
}

fn go(pool: &Pool, code: impl FnOnce(&Pool) + Send + 'static) {
    pool.schedule(Task(Box::new(code)));
}

/// Runs a task, and all that it begins. Returns what the processors have counted.
fn run(processors: usize, first: impl FnOnce(&Pool) + Send + 'static) -> ProcessorStats {
    let pool = Processors::new(Config::default().processors(processors)).unwrap();
    let machines = Processors::start(&pool, Arc::new(Calls)).unwrap();
    go(&pool, first);
    pool.stop();
    machines.join();
    pool.stats().into_iter().reduce(Add::add).unwrap()
}

// ANCHOR: tree
fn sum(pool: &Pool, numbers: &Range<u64>, total: Arc<AtomicU64>) {
    if let Some([left, right]) = halves(numbers) {
        let adds = Arc::clone(&total);
        go(pool, move |pool| sum(pool, &left, adds));
        go(pool, move |pool| sum(pool, &right, total));
    } else {
        total.fetch_add(numbers.start, Ordering::Relaxed);
    }
}
// ANCHOR_END: tree

fn tree() -> String {
    let total = Arc::new(AtomicU64::new(0));
    let adds = Arc::clone(&total);
    let stats = run(2, move |pool| sum(pool, &NUMBERS, adds));
    assert_eq!(total.load(Ordering::Relaxed), NUMBERS.sum());
    let (run, stolen, steals) = (stats.run, stats.stolen, stats.steals);
    format!("{run} tasks, {stolen} stolen by {steals} steals")
}

// ANCHOR: ring
fn hop(pool: &Pool, left: usize) {
    if left > 0 {
        go(pool, move |pool| hop(pool, left - 1));
    }
}
// ANCHOR_END: ring

fn ring() -> String {
    let stats = run(2, |pool| hop(pool, HOPS));
    assert_eq!(stats.run, HOPS as u64 + 1);
    let (stolen, wakes) = (stats.stolen, stats.wake_ups);
    format!("{HOPS} hops, {stolen} to another thread; {wakes} wake-ups")
}

fn long() -> String {
    let (tell, told) = mpsc::channel();
    // ANCHOR: long
    run(1, move |pool| {
        let (done, shorts) = mpsc::channel();
        for done in vec![done; SHORTS] {
            go(pool, move |_pool| done.send(()).unwrap());
        }
        // The only processor goes to another thread, until the call returns.
        tell.send(pool.blocking(|| shorts.iter().count())).unwrap();
    });
    // ANCHOR_END: long
    assert_eq!(told.recv(), Ok(SHORTS));
    format!("1 processor ran {SHORTS} short ones meanwhile")
}
