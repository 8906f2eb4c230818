//! Tasks of a processor: found in its deque, run, and two more made by each; or injected.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use filch_processors::{Config, Processors, Runner};

use crate::job::{BEDTIME, mark, standing_still};

/// The root of a tree of so many tasks. A type of its own: the queues of the other operations are
/// compiled for themselves alone.
struct Root(u64);

/// Each task, but the leaves, makes the roots of two halves.
struct Tree;

impl Runner<Root> for Tree {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, Root(tasks): Root, pool: &Arc<Processors<Root>>, (): &mut ()) {
        let below = tasks - 1;
        for half in [below / 2, below - below / 2] {
            if half > 0 {
                pool.schedule(Root(half));
            }
        }
    }
}

/// Runs a tree of `times` tasks on one processor.
pub(crate) fn tree(times: u64) {
    let config = Config::default().processors(1).clock(standing_still);
    let pool = Processors::new(config).expect("one is possible");
    let machines = Processors::start(&pool, Arc::new(Tree)).expect("the system gives threads");
    pool.inject(Root(times));
    pool.wait_quiescent(None).expect("this is no task");
    pool.stop();
    machines.join();
}

/// A task that tells its number.
struct Told(u64);

struct Tell(Sender<u64>);

impl Runner<Told> for Tell {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, Told(number): Told, _: &Arc<Processors<Told>>, (): &mut ()) {
        mark(); // The road of an injected task ends.
        self.0.send(number).expect("it is waited for");
    }
}

/// Injects `times` tasks, each while the only processor sleeps.
pub(crate) fn injected(times: u64) {
    let (tell, told) = channel();
    let pool = Processors::new(Config::default().processors(1)).expect("one is possible");
    let machines = Processors::start(&pool, Arc::new(Tell(tell)));
    for number in 0..times {
        thread::sleep(BEDTIME);
        mark(); // The road of an injected task begins.
        pool.inject(Told(number));
        assert_eq!(told.recv(), Ok(number));
    }
    pool.stop();
    machines.expect("the system gives threads").join();
}
