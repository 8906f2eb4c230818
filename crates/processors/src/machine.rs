//! A thread that runs a processor's tasks.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_deque::Worker;
use filch_parker::{AdaptiveSpinner, Parker, Spin};
use filch_sync::Arc;
use filch_sync::thread::{self, JoinHandle};

use crate::current::{self, Current};
use crate::find_work::Search;
use crate::processors::{Processors, Runner};
use crate::stats::Counters;

/// The threads of a pool.
#[must_use = "detach or join them"]
pub struct Machines {
    threads: Vec<JoinHandle<()>>,
}

impl Machines {
    pub(crate) fn new() -> Self {
        Self {
            threads: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }

    /// Waits until all threads have left, which they do after [`Processors::stop`], once no work remains. Blocking.
    ///
    /// What the tasks did happens before the return.
    pub fn join(self) {
        for thread in self.threads {
            // A machine contains its tasks' panics, so it does not end by one.
            let _ = thread.join();
        }
    }

    /// Leaves the threads to themselves.
    pub fn detach(self) {}
}

impl fmt::Debug for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machines")
            .field("threads", &self.threads.len())
            .finish()
    }
}

/// A thread, with the processor that it holds.
pub(crate) struct Machine<T, R: Runner<T>> {
    pub(crate) pool: Arc<Processors<T>>,
    pub(crate) runner: Arc<R>,
    pub(crate) own: usize,
    pub(crate) worker: Worker<T>,
    pub(crate) parker: Parker,
}

impl<T: Send + 'static, R: Runner<T>> Machine<T, R> {
    /// Starts the thread.
    pub(crate) fn spawn(self) -> io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name(format!("filch-{}", self.own))
            .spawn(move || self.main())
    }

    fn main(self) {
        let counters = &*self.pool.processors[self.own].counters;
        let current = Current {
            worker: &self.worker,
            counters,
        };
        current::enter(&self.pool, &current, || {
            let mut scratch = self.runner.scratch(self.own);
            let mut search = Search::new(self.own);
            while let Some(task) = search
                .next(&self.pool, &self.worker)
                .or_else(|| self.search(&mut search, counters))
            {
                self.run(task, &mut scratch, counters);
            }
        });
    }

    fn run(&self, task: T, scratch: &mut R::Scratch, counters: &Counters) {
        counters.run.add(1);
        // If it unwinds, the runner answers for its own state; the thread goes on with the next task.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.runner.run(task, scratch))) {
            counters.panicked.add(1);
            crate::panic::discard(payload);
        }
    }

    /// The processor has nothing of its own: search, spin, sleep, until there is work or no more will come.
    fn search(&self, search: &mut Search, counters: &Counters) -> Option<T> {
        let pool = &*self.pool;
        if pool.is_stopping() {
            return self.look_once_more(search);
        }
        let mut searching = pool.idle.try_start_searching();
        loop {
            if searching && let Some(task) = self.spin(search, counters) {
                if pool.idle.stop_searching() {
                    pool.wake_one();
                }
                return Some(task);
            }
            pool.idle.go_idle(self.own, searching);
            // The second look: what was published before our name was on the list is ours to see. Being on the list, we
            // do not take it: we call for a searcher as a producer would, and are the first to be called.
            if pool.has_work() {
                pool.wake_one();
            }
            // Also when the pool is stopping: `stop` has left a token, or will.
            counters.parks.add(1);
            self.parker.park();
            if pool.is_stopping() {
                return self.look_once_more(search);
            }
            counters.wake_ups.add(1);
            searching = true;
        }
    }

    /// The pool is stopping: everybody is awake, nobody is counted any more. Takes what is left, or leaves. The look has to come
    /// after the sight of the flag, or what was injected just before the stop would be left behind.
    fn look_once_more(&self, search: &mut Search) -> Option<T> {
        search
            .next(&self.pool, &self.worker)
            .or_else(|| search.steal(&self.pool, &self.worker))
    }

    /// Looks until there is something, or there has been nothing for a while.
    fn spin(&self, search: &mut Search, counters: &Counters) -> Option<T> {
        let mut spinner = if self.pool.count() == 1 {
            AdaptiveSpinner::none()
        } else {
            AdaptiveSpinner::new()
        };
        loop {
            let found = search
                .next(&self.pool, &self.worker)
                .or_else(|| search.steal(&self.pool, &self.worker));
            if found.is_some() || spinner.spin() == Spin::Block {
                counters.spins.add(spinner.rounds().into());
                return found;
            }
        }
    }
}
