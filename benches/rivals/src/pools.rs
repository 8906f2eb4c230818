//! Pools that run processes and tasks, ours and the rivals', behind what the scenarios need of
//! them. All have equally many threads, otherwise the rivals have their defaults.

mod actix;
mod async_executor;
mod filch;
mod ractor;
mod rayon;
mod skynet;
mod tokio;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::total::Total;
use crate::work::workers;
pub(crate) use actix::Actix;
pub(crate) use async_executor::{Async, AsyncLeaked, AsyncStatic, Executing, Handle};
pub(crate) use filch::{Filch, FilchFutures, Of, TIMERS, Talk, Talking, start};
pub(crate) use ractor::Ractor;
pub(crate) use tokio::Tokio;

/// Tells the thread outside that tasks are done. One for all pools: only one has its turn.
pub(crate) static TOTAL: Total = Total::new();

/// Has so many threads.
pub(crate) trait Threads: Sized + 'static {
    fn with_workers(workers: usize) -> Self;

    /// As many as are asked for.
    fn here() -> Self {
        Self::with_workers(workers())
    }
}

/// Runs tasks.
pub(crate) trait Tasks: Threads {
    /// Runs `task` once.
    fn spawn(&self, task: impl FnOnce() + Send + 'static);
}

/// Runs processes that live on and have addresses, and take messages of that type.
pub(crate) trait Actors<M>: Threads {
    type Address: Clone + Send + Sync + 'static;

    /// A process that calls `behaviour` with each message, until the pool ends.
    fn actor(&self, behaviour: impl FnMut(M) + Send + 'static) -> Self::Address;

    /// Returns whether the process is still there.
    fn send(to: &Self::Address, message: M) -> bool;
}

/// Runs short tasks.
pub(crate) trait Spawner: Threads {
    /// Spawns tasks that return 1, 2, … `count`, waits for all, and returns the sum of what they
    /// returned.
    fn spawn_all(&self, count: u64) -> u64;
}

/// Runs a tree of tasks, ten to a knot: each leaf has a number, and each knot sends its parent the
/// sum of its children's numbers. <https://github.com/atemerev/skynet>
pub(crate) trait Grower: Threads {
    /// Grows the tree over the numbers from 0 to `leaves`, not included, and returns their sum.
    fn grow(&self, leaves: u64) -> u64;
}

/// A pool of workers, and what can live in it. A step that says `false` is the last one.
pub(crate) trait Pool: Actors<u64> + Tasks + Sync {
    const NAME: &'static str;

    /// Takes a step, gives way to all others, and so on.
    fn yielder(&self, step: impl FnMut() -> bool + Send + 'static);

    /// Two that send one message to and fro, with a step for each way.
    fn pair(&self, step: impl FnMut() -> bool + Clone + Send + 'static) {
        let partner = Arc::new(OnceLock::new());
        let one = player(self, step.clone(), Arc::clone(&partner));
        let other = player(self, step, Arc::new(OnceLock::from(one.clone())));
        assert!(partner.set(other).is_ok() && Self::send(&one, 0));
    }

    /// A receiver that has never fewer than `backlog` messages: it takes a step for each, and sends
    /// it to itself again.
    fn flooded(&self, backlog: u64, step: impl FnMut() -> bool + Send + 'static) {
        let own = Arc::new(OnceLock::new());
        let address = player(self, step, Arc::clone(&own));
        assert!(own.set(address.clone()).is_ok());
        (0..backlog).for_each(|_| assert!(Self::send(&address, 0)));
    }

    /// Runs a task that does nothing, and waits for it: by the call for that.
    fn execute(&self);

    /// A pool whose futures may [`sleep`](Self::sleep).
    fn with_clock(workers: usize) -> Self {
        Self::with_workers(workers)
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static);

    /// Sleeps in a future of the pool.
    fn sleep(length: Duration) -> impl Future<Output = ()> + Send;
}

/// Awaits all, and adds up what they return.
async fn sum_of<F: Future<Output = u64>>(futures: impl IntoIterator<Item = F>) -> u64 {
    let mut sum = 0;
    for future in futures {
        sum += future.await;
    }
    sum
}

/// A process that takes a step for each message, and sends it on.
fn player<P: Pool>(
    pool: &P,
    mut step: impl FnMut() -> bool + Send + 'static,
    partner: Arc<OnceLock<P::Address>>,
) -> P::Address {
    let mut goes_on = true;
    pool.actor(move |ball| {
        // What it still has after the last step is nothing to it.
        goes_on = goes_on && step();
        if goes_on {
            // The partner may have ended with the pool.
            P::send(partner.wait(), ball);
        }
    })
}

/// A pool whose tasks may block.
pub(crate) trait BlockingPool: Pool {
    /// Runs a task that makes a blocking call, in the way that keeps the others going.
    fn spawn_blocking(&self, call: impl FnOnce() + Send + 'static);
}
