//! Fork/join: each branch runs once, what a joiner waits for wakes it, and no work waits beside
//! sleepers that nobody told.
//!
//! The workers are those that ship, without a pool's threads: a model's threads take their slots
//! themselves, and have no patience, so that a joiner that finds nothing sleeps at once. Their
//! parkers really sleep: a wake-up that is lost is a deadlock, which loom reports.

mod broadcast;
mod guest;
mod in_order;
mod install;
mod join;
mod latch;
mod panics;
mod scope;
mod sleep;
mod steal_back;

use std::any::Any;
use std::sync::{Arc as StdArc, LazyLock, Mutex as StdMutex};

use filch_fork_join::Worker;
use filch_fork_join::protocol::{Host, Shared, register, run_one};
use filch_parker::{AdaptiveSpinner, Parker, Unparker};
use filch_sync::Arc;
use filch_sync::cell::UnsafeCell;
use filch_sync::thread::{self, JoinHandle};

/// A host whose threads are told one after the other, from the last one on; and then `always` one.
#[derive(Default)]
struct Threads {
    in_turn: StdMutex<Vec<Unparker>>,
    always: Option<Unparker>,
}

impl Host for Threads {
    fn notify(&self) {
        let next = self.in_turn.lock().unwrap().pop();
        if let Some(next) = next.as_ref().or(self.always.as_ref()) {
            next.unpark();
        }
    }

    fn nudge_threads(&self) {
        if let Some(thread) = &self.always {
            thread.unpark();
        }
    }

    fn block(&self, call: &mut dyn FnMut()) {
        call();
    }

    fn tell_panic(&self, _: Box<dyn Any + Send>) {}
}

/// Makes the state of workers that are all there is.
fn shared() -> Arc<Shared> {
    static NOBODY: LazyLock<StdArc<dyn Host>> = LazyLock::new(|| StdArc::new(Threads::default()));
    shared_by(&NOBODY)
}

fn shared_by(host: &StdArc<dyn Host>) -> Arc<Shared> {
    let host = StdArc::downgrade(host);
    Arc::new(Shared::new(host, AdaptiveSpinner::none(), u32::MAX))
}

/// The same, with a thread of the host's, which sleeps in that parker. The host is kept by whoever
/// has it.
fn shared_with_a_host() -> (Arc<Shared>, Parker, StdArc<dyn Host>) {
    let parker = Parker::new();
    let host: StdArc<dyn Host> = StdArc::new(Threads {
        always: Some(parker.unparker()),
        ..Threads::default()
    });
    (shared_by(&host), parker, host)
}

fn registered(shared: &Arc<Shared>) -> Worker {
    register(shared).expect("there are slots")
}

/// Registers a thief that makes `attempts` attempts at a job, and says how many it ran.
fn thief(shared: &Arc<Shared>, attempts: usize) -> JoinHandle<usize> {
    let worker = registered(shared);
    thread::spawn(move || (0..attempts).filter(|_| run_one(&worker)).count())
}

/// Plain memory: loom reports a write that is not ordered with every other access.
struct Plain(UnsafeCell<u32>);

// SAFETY: that accesses are ordered is what the models claim.
unsafe impl Sync for Plain {}
// SAFETY: as above.
unsafe impl Send for Plain {}

impl Plain {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn set(&self, value: u32) {
        // SAFETY: the claim.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    fn get(&self) -> u32 {
        // SAFETY: the claim.
        self.0.with(|place| unsafe { *place })
    }
}
