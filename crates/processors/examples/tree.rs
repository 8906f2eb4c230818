//! Tasks that schedule tasks: a pool walks an implicit binary tree, and the main thread waits until
//! nothing is left to do, without counting tasks.
//!
//! ```sh
//! cargo run --release --example tree
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_processors::{Config, Processors, Runner};

/// The subtree below this node.
struct Subtree {
    height: u32,
    number: u64,
}

/// Adds up the numbers of all leaves.
struct Walker {
    sum: AtomicU64,
}

impl Runner<Subtree> for Walker {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, subtree: Subtree, pool: &Arc<Processors<Subtree>>, (): &mut ()) {
        let Subtree { height, number } = subtree;
        if height == 0 {
            // ORDERING: Relaxed: `wait_quiescent` returns after what the tasks did.
            self.sum.fetch_add(number, Ordering::Relaxed);
            return;
        }
        // Both go to the deque of the processor that runs this task. It takes the second one next;
        // the first one is there for thieves.
        for child in [2 * number, 2 * number + 1] {
            pool.schedule(Subtree {
                height: height - 1,
                number: child,
            });
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const HEIGHT: u32 = 16;
    let pool = Processors::new(Config::default().processors(2))?;
    let walker = Arc::new(Walker {
        sum: AtomicU64::new(0),
    });
    let machines = Processors::start(&pool, Arc::clone(&walker))?;

    // From outside a task goes to the global queue.
    pool.inject(Subtree {
        height: HEIGHT,
        number: 0,
    });
    // Exact: all processors are idle, and all queues are empty.
    pool.wait_quiescent()?;

    let leaves = 1 << HEIGHT;
    // ORDERING: Relaxed: as above.
    assert_eq!(
        walker.sum.load(Ordering::Relaxed),
        leaves * (leaves - 1) / 2
    );
    let stats = pool.stats().into_iter().reduce(|all, one| all + one);
    let stats = stats.unwrap_or_default();
    assert_eq!(stats.run, 2 * leaves - 1);
    println!("{} tasks ran, {} were stolen", stats.run, stats.stolen);

    // The pool keeps its threads until it is stopped.
    pool.stop();
    machines.join();
    Ok(())
}
