//! The start of a pool, and the beginning and end of its threads.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool, Ordering};

use filch_parker::Parker;
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::thread;
use filch_sync::{Arc, lock};

use crate::pool::config::StartError;
use crate::pool::processors::{AnyRunner, Processors};
use crate::pool::runner::Runner;
use crate::pool::threads::Machines;
use crate::pool::threads::Thread;
use crate::pool::visit::{Awaited, Visit};
use crate::thread::main_loop::run_machine;

/// A runner, and its pool.
struct InPool<T, R> {
    pool: Arc<Processors<T>>,
    runner: Arc<R>,
}

impl<T: Send + 'static, R: Runner<T>> AnyRunner<T> for InPool<T, R> {
    fn start_thread(&self, machine: usize) -> io::Result<()> {
        let pool = Arc::clone(&self.pool);
        let runner = Arc::clone(&self.runner);
        self.pool.spawn(machine, move || {
            let scratch = catch_panic(|| runner.scratch(machine));
            let ran = scratch.map(|scratch| run_machine(&pool, &*runner, machine, scratch));
            // A caller that joins the threads expects that they keep nothing any more.
            drop_contained(runner);
            match ran {
                Ok(parker) => pool.exit(machine, parker),
                Err(_) => pool.cannot_begin(machine),
            }
        })
    }

    fn run_visit(&self, visit: Visit, task: T, awaited: &dyn Awaited<T>) -> (Visit, Option<T>) {
        visit.run(task, awaited, &self.pool, &*self.runner)
    }

    fn label(&self, task: &T) -> Option<NonZeroU64> {
        catch_panic(|| self.runner.label(task)).ok().flatten()
    }

    fn describe(&self, label: NonZeroU64) -> String {
        catch_panic(|| self.runner.describe(label))
            .unwrap_or_else(|message| format!("task {label}; its description panicked: {message}"))
    }
}

/// A thread that the pool's user has, until it comes. If it does not, the pool must know.
struct Expected<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    machine: usize,
    has_come: bool,
    /// `true` once the user has dropped it, for the start.
    is_dropped: StdArc<AtomicBool>,
}

impl<T: Send + 'static> Drop for Expected<T> {
    fn drop(&mut self) {
        if !self.has_come {
            // ORDERING: Relaxed: for the start, if it is dropped on that one's thread.
            self.is_dropped.store(true, Ordering::Relaxed);
            let shared = &self.pool.shared;
            shared.coordinator.stay_away(self.machine, &shared.queues);
            self.pool.end_if_deserted();
        }
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Starts `pool`, with one thread: the others are started when there is something for them to
    /// do. Waits for none of them.
    ///
    /// If the system refuses one of these later, or the runner panics when it is to make its
    /// [scratch](Runner::scratch), the pool goes on with the threads that it has, and tries again
    /// when one of them has nothing to do: see [`ThreadStats::refused`](crate::ThreadStats). If
    /// there is none left, since no thread gets a scratch, the pool is over.
    ///
    /// # Errors
    /// [`StartError::AlreadyStarted`]; [`StartError::Stopped`]; [`StartError::Thread`], after which
    /// the pool is stopped.
    pub fn start<R: Runner<T>>(pool: &Arc<Self>, runner: Arc<R>) -> Result<Machines, StartError> {
        let shared = &pool.shared;
        Self::start_by(pool, runner, |count| {
            let started = shared.coordinator.start(count, &shared.queues);
            started.map_err(StartError::Thread)
        })
    }

    /// [`start`](Self::start), with all threads at once.
    ///
    /// # Errors
    /// As `start`, for each of them. Threads that had been started run what has been scheduled, and
    /// exit.
    pub fn start_all<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
    ) -> Result<Machines, StartError> {
        Self::start_with(pool, runner, |thread| {
            pool.spawn(thread.number(), || thread.run())
        })
    }

    /// The same, with threads that `spawn` makes: it says why there is none, or sees to it that the
    /// thread calls [`run`](Thread::run), at once or at any time later. It is called once for each
    /// processor, one after the other, and not after the return. Threads that the pool needs later,
    /// for [`blocking`](Self::blocking) calls or because it was resized, it makes itself: a
    /// [limit](crate::Config::thread_limit) can see to it that there are none.
    ///
    /// As long as a thread has not come, there is a processor less at work. If none has, tasks wait
    /// for the first one, also in a pool that is [stopped](Self::stop) meanwhile.
    ///
    /// [`Machines::join`] does not wait for threads that `spawn` made, which are the caller's.
    ///
    /// # Errors
    /// As there. A `spawn` that panics has refused the thread, and so has one that drops it before
    /// it returns.
    pub fn start_with<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        mut spawn: impl FnMut(Thread) -> io::Result<()>,
    ) -> Result<Machines, StartError> {
        let of_threads = Arc::clone(&runner);
        Self::start_by(pool, runner, |count| {
            let mut refusal = None;
            let make = |machine| {
                let is_dropped = StdArc::default();
                let thread = Self::expected_thread(pool, &of_threads, machine, &is_dropped);
                refusal = match catch_panic(|| spawn(thread)) {
                    // ORDERING: Relaxed: as in `Expected::drop`.
                    Ok(Ok(())) => is_dropped
                        .load(Ordering::Relaxed)
                        .then(|| io::Error::other("the thread was dropped, and has not run")),
                    Ok(Err(error)) => Some(error),
                    Err(message) => Some(io::Error::other(message)),
                };
                refusal.is_none()
            };
            match pool.shared.coordinator.expect_all(count, make) {
                true => Ok(()),
                false => Err(refusal.map_or(StartError::Stopped, StartError::Thread)),
            }
        })
    }

    fn expected_thread<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: &Arc<R>,
        machine: usize,
        is_dropped: &StdArc<AtomicBool>,
    ) -> Thread {
        let runner = Arc::clone(runner);
        let mut expected = Expected {
            pool: Arc::clone(pool),
            machine,
            has_come: false,
            is_dropped: StdArc::clone(is_dropped),
        };
        Thread::new(machine, move || {
            let scratch = match catch_panic(|| runner.scratch(machine)) {
                Ok(scratch) => scratch,
                Err(message) => panic!("a thread cannot run: its scratch panicked: {message}"),
            };
            expected.has_come = true;
            expected.pool.shared.coordinator.arrive(machine);
            let parker = run_machine(&expected.pool, &*runner, machine, scratch);
            drop_contained(runner);
            expected.pool.exit(machine, parker);
        })
    }

    fn start_by<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        start: impl FnOnce(usize) -> Result<(), StartError>,
    ) -> Result<Machines, StartError> {
        let resizing = lock(&pool.handles.resizing);
        if pool.is_stopping() {
            return Err(StartError::Stopped);
        }
        {
            let mut slot = lock(&pool.runner);
            if slot.is_some() {
                return Err(StartError::AlreadyStarted);
            }
            *slot = Some(StdArc::new(InPool {
                pool: Arc::clone(pool),
                runner,
            }));
        }
        let count = pool.count();
        pool.shared.queues.reach(count);
        let started = start(count);
        drop(resizing);
        match started {
            Ok(()) => Ok(Machines {
                handles: Arc::clone(&pool.handles),
            }),
            Err(error) => {
                pool.stop();
                Err(error)
            }
        }
    }

    /// Asks the system for a thread, which is joined with the pool's.
    fn spawn(&self, machine: usize, main: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let name = format!("{}-{machine}", self.config.thread_name);
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        self.handles.start(machine, || builder.spawn(main))
    }

    /// Ends the machine's thread, which has nothing left to do but to exit.
    fn exit(&self, machine: usize, parker: Parker) {
        self.handles.join_former(machine);
        self.shared.coordinator.exit(machine, parker);
        self.end_after(machine);
    }

    /// Hands on what is bound to a machine whose thread cannot run tasks.
    fn cannot_begin(&self, machine: usize) {
        let shared = &self.shared;
        let bound = shared.coordinator.bound_as(machine);
        self.handles.join_former(machine);
        shared.coordinator.refuse(machine);
        let left = bound.and_then(|id| shared.bound_tasks.close(id));
        left.into_iter()
            .flatten()
            .for_each(|task| self.inject(task));
        self.end_after(machine);
    }
}
