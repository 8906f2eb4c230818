//! What a program has to say when a thread starts, exits, or carries a panic that nobody waits for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use filch_fork_join::{Config, Pool, Worker};

type Payload = Box<dyn Any + Send>;
type PanicHandler = Box<dyn Fn(Payload) + Send + Sync>;
type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;

/// The handlers of a pool.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<PanicHandler>,
    pub(crate) start: Option<ThreadHandler>,
    pub(crate) exit: Option<ThreadHandler>,
}

impl Handlers {
    /// Has a pool of so many threads call them. `takes_caller`: the first is not the pool's own.
    pub(crate) fn install(
        self,
        config: Config,
        threads: usize,
        takes_caller: bool,
    ) -> (Config, Arc<Installed>) {
        let runs_already = |index| takes_caller && index == 0;
        let has_started = (0..threads).map(|index| AtomicBool::new(runs_already(index)));
        let installed = Arc::new(Installed {
            handlers: self,
            has_started: has_started.collect(),
        });
        let (panics, exits) = (Arc::clone(&installed), Arc::clone(&installed));
        let config = config
            .on_panic(move |payload| panics.panicked(payload))
            .on_exit(move |index| exits.exit(index));
        (config, installed)
    }
}

/// The handlers of a pool whose threads call them.
pub(crate) struct Installed {
    handlers: Handlers,
    /// Each is its thread's own.
    has_started: Box<[AtomicBool]>,
}

impl Installed {
    /// Has each thread of a pool that has just started call the handler for that, before its first
    /// job. The caller does not wait: such handlers may wait for each other, and for the caller.
    pub(crate) fn start(self: Arc<Self>, pool: &Pool) {
        if self.handlers.start.is_none() {
            return;
        }
        pool.spawn_broadcast(move |worker| self.start_one(worker.index()));
        // There is nothing to do for the caller, if it is one of the threads.
        Worker::current(|worker| {
            worker
                .filter(|worker| pool.has(worker))
                .map(Worker::yield_local);
        });
    }

    fn start_one(&self, index: usize) {
        // ORDERING: Relaxed: its thread alone looks at it.
        if !self.has_started[index].swap(true, Ordering::Relaxed) {
            self.call(self.handlers.start.as_ref(), index);
        }
    }

    fn exit(&self, index: usize) {
        // Of a pool that did not come to be.
        self.start_one(index);
        self.call(self.handlers.exit.as_ref(), index);
    }

    fn call(&self, handler: Option<&ThreadHandler>, index: usize) {
        let Some(handler) = handler else {
            return;
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler(index))) {
            self.panicked(payload);
        }
    }

    /// Gives a panic to its handler. The process is aborted if there is none, or it panics.
    fn panicked(&self, payload: Payload) {
        let is_told = self.handlers.panic.as_ref().is_some_and(|handler| {
            let told = catch_unwind(AssertUnwindSafe(|| handler(payload)));
            told.is_ok()
        });
        if !is_told {
            eprintln!("rayon: a panic that nobody waits for and no handler takes; aborting");
            process::abort();
        }
    }
}
