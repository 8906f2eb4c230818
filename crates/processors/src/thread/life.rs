//! The life of a pool and of its threads: the start, another number of processors, quiescence, and
//! the end.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::{lock, thread};

use crate::pool::config::PoolError;
use crate::pool::processors::{AnyRunner, Processors};
use crate::pool::runner::{Awaited, CallerRuns, Runner};
use crate::pool::threads::{Machines, Thread};
use crate::protocol::quiescence::NeverQuiescent;
use crate::protocol::state::grant::Activity;
use crate::thread::machine::Machine;

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
            match catch_panic(|| runner.scratch(machine)) {
                Ok(scratch) => Processors::run_thread(&pool, runner, machine, scratch),
                Err(_) => {
                    drop_contained(runner);
                    pool.cannot_begin(machine);
                }
            }
        })
    }

    fn caller_runs(&self, visit: CallerRuns, task: T, awaited: &dyn Awaited<T>) {
        visit.run(task, awaited, &self.pool, &*self.runner);
    }

    fn label(&self, task: &T) -> Option<NonZeroU64> {
        catch_panic(|| self.runner.label(task)).ok().flatten()
    }

    fn describe(&self, label: NonZeroU64) -> String {
        catch_panic(|| self.runner.describe(label))
            .unwrap_or_else(|message| format!("task {label}; its description panicked: {message}"))
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Starts `pool`, with one thread: the others are started when there is something for them to
    /// do. Waits for none of them.
    ///
    /// If one of these cannot be had later, since the system refuses it or the runner panics when
    /// it is to make its [scratch](Runner::scratch), the pool goes on with those that it has, and
    /// tries again when one has nothing to do, or, while all are in blocking calls, when a task
    /// comes from outside. If there is none left, the pool is over.
    ///
    /// # Errors
    /// [`PoolError::AlreadyStarted`]; [`PoolError::Stopped`]; [`PoolError::Thread`], after which
    /// the pool is stopped.
    pub fn start<R: Runner<T>>(pool: &Arc<Self>, runner: Arc<R>) -> Result<Machines, PoolError> {
        Self::start_by(pool, runner, |count| pool.start_threads(count, 1))
    }

    /// [`start`](Self::start), with all threads at once.
    ///
    /// # Errors
    /// As `start`, for each of them. Threads that had been started run what has been scheduled, and
    /// exit.
    pub fn start_all<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
    ) -> Result<Machines, PoolError> {
        Self::start_by(pool, runner, |count| pool.start_threads(count, count))
    }

    fn start_threads(&self, count: usize, threads: usize) -> Result<(), PoolError> {
        let started = (self.shared.coordinator).start(count, threads, &self.shared.queues);
        started.map_err(PoolError::Thread)
    }

    /// [`start_all`](Self::start_all), with threads that `spawn` makes: it says why there is none,
    /// or sees to it that the thread calls [`run`](Thread::run), at once or at any time later. It
    /// is called once for each processor, and not after the return. Threads that the pool needs
    /// later it makes itself: a [limit](crate::Config::thread_limit) can see to it that there are
    /// none. [`Machines::join`] does not wait for threads that `spawn` made.
    ///
    /// As long as a thread has not come, there is a processor less at work. If none has, tasks wait
    /// for the first one, also in a pool that is [stopped](Self::stop) meanwhile.
    ///
    /// # Errors
    /// As there. A `spawn` that panics has refused the thread, and so has one that drops it before
    /// it returns.
    pub fn start_with<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        mut spawn: impl FnMut(Thread) -> io::Result<()>,
    ) -> Result<Machines, PoolError> {
        let of_threads = Arc::clone(&runner);
        Self::start_by(pool, runner, |count| {
            let mut refusal = None;
            let make = |machine| {
                let is_dropped = Arc::default();
                let thread = Self::expected_thread(pool, &of_threads, machine, &is_dropped);
                refusal = match catch_panic(|| spawn(thread)) {
                    // ORDERING: Relaxed: as in `expected_thread`.
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
                false => Err(refusal.map_or(PoolError::Stopped, PoolError::Thread)),
            }
        })
    }

    fn expected_thread<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: &Arc<R>,
        machine: usize,
        is_dropped: &Arc<AtomicBool>,
    ) -> Thread {
        let (pool, runner) = (Arc::clone(pool), Arc::clone(runner));
        let is_dropped = Arc::clone(is_dropped);
        Thread::new(machine, move |comes| {
            let scratch = comes.then(|| catch_panic(|| runner.scratch(machine)));
            if let Some(Ok(scratch)) = scratch {
                pool.shared.coordinator.arrive(machine);
                return Self::run_thread(&pool, runner, machine, scratch);
            }
            // ORDERING: Relaxed: for the start, if it is dropped on that one's thread.
            is_dropped.store(true, Ordering::Relaxed);
            let shared = &pool.shared;
            shared.coordinator.stay_away(machine, &shared.queues);
            pool.end_if_deserted();
            if let Some(Err(message)) = scratch {
                panic!("a thread cannot run: its scratch panicked: {message}");
            }
        })
    }

    fn start_by<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        start: impl FnOnce(usize) -> Result<(), PoolError>,
    ) -> Result<Machines, PoolError> {
        let resizing = lock(&pool.handles.resizing);
        if pool.is_ending() {
            return Err(PoolError::Stopped);
        }
        {
            let mut slot = lock(&pool.runner);
            if slot.is_some() {
                return Err(PoolError::AlreadyStarted);
            }
            *slot = Some(Arc::new(InPool {
                pool: Arc::clone(pool),
                runner,
            }));
        }
        let started = start(pool.count());
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

    /// Changes the number of processors, and returns the number that there were. From any thread,
    /// also from a task. Blocking, but not for any task: one resize at a time.
    ///
    /// New processors run when there is something for them to do. Of those that are too many, idle
    /// ones are given up at once, and running ones when their current task ends, or its next
    /// [`blocking`](Self::blocking) call begins. What was left in their deques goes to the end of
    /// the global queue. Nothing runnable is lost, and nothing stops meanwhile. If it grows from
    /// one processor, a task that was scheduled just then by a running task may not wake a new
    /// processor before that one ends.
    ///
    /// # Errors
    /// [`PoolError`], but no thread is refused here. The number is unchanged, unless the limit of
    /// threads is reached: then it is as large as possible.
    #[doc(alias = "GOMAXPROCS")]
    pub fn resize(&self, count: usize) -> Result<usize, PoolError> {
        let max = self.max_count();
        if count == 0 {
            return Err(PoolError::NoProcessors);
        }
        if count > max {
            return Err(PoolError::TooManyProcessors { asked: count, max });
        }
        let _one_at_a_time = self.lock_running()?;
        let before = self.count();
        self.shared.queues.reach(count, (self.shared.clock)());
        for processor in before..count {
            if !self.shared.coordinator.grow(processor, &self.shared.queues) {
                return Err(match self.shared.coordinator.is_over() {
                    true => PoolError::Stopped,
                    false => PoolError::Threads { reached: processor },
                });
            }
        }
        if count < before {
            self.shared.coordinator.shrink(count, &self.shared.queues);
        }
        Ok(before)
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

    /// Runs on the calling thread as machine number `machine`, until it is told to exit; the thread
    /// has nothing left to do afterwards.
    fn run_thread<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        machine: usize,
        scratch: R::Scratch,
    ) {
        let coordinator = &pool.shared.coordinator;
        let parker = coordinator.enter(machine);
        Machine::new(pool, &*runner, machine, &parker).main(scratch);
        // A caller that joins the threads expects that they keep nothing any more.
        drop_contained(runner);
        pool.handles.join_former(machine);
        coordinator.exit(machine, parker);
        pool.end_after(machine);
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

impl<T: Send + 'static> Processors<T> {
    /// Returns whether at some moment during the call nothing could run any more: all processors
    /// idle, all queues empty, no [`blocking`](Self::blocking) call under way. From then on a task
    /// can only come from outside of the pool.
    ///
    /// `true` is exact. `false` means that something was going on, be it only a thread that had
    /// been woken in vain. Lock-free; looks into every queue if all processors are idle.
    pub fn is_quiescent(&self) -> bool {
        self.shared.coordinator.is_quiescent(&self.shared.queues)
    }

    /// Blocks until [`is_quiescent`](Self::is_quiescent) holds at some moment after the call began,
    /// or until the `deadline`, if there is one. Returns whether there was such a moment: a
    /// scheduler whose processes still live may then conclude that they wait for each other.
    ///
    /// All that the tasks did until then happens before the return.
    ///
    /// # Errors
    /// [`NeverQuiescent`] if the pool has been stopped and tasks came too late to be run.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself.
    pub fn wait_quiescent(&self, deadline: Option<Instant>) -> Result<bool, NeverQuiescent> {
        assert!(
            !self.is_machine(),
            "a task that waits until no task runs waits for itself"
        );
        let coordinator = &self.shared.coordinator;
        coordinator.await_quiescence_until(&self.shared.queues, deadline)
    }

    /// Lets the threads exit, once no work remains: when all that has been scheduled has run, and
    /// every [`blocking`](Self::blocking) call has come back. Until then everything goes on as
    /// before. A task that is scheduled from outside when the threads have exited stays where it
    /// is. Takes a lock for a moment; waits for no task.
    pub fn stop(&self) {
        self.shared.coordinator.stop(&self.shared.queues);
        self.shared.long_turns.wake();
        // If there is no thread, none will do that.
        self.end_if_deserted();
    }

    /// Ends the pool, if the machine's thread was the last one; it has nothing left to do but to
    /// exit. It is shown as busy until the end, which may be long: see below.
    fn end_after(&self, machine: usize) {
        if self.shared.coordinator.is_deserted() {
            let public = self.shared.coordinator.machine(machine);
            public.set_activity(Activity::Runs);
            self.end_if_deserted();
            public.set_activity(Activity::Gone);
        }
    }

    /// Ends the pool if no thread is left, when one has exited, or could not be had.
    pub(crate) fn end_if_deserted(&self) {
        if !self.shared.coordinator.is_deserted() {
            return;
        }
        // With it go references to the pool and to the runner, whose destructor is a user's.
        let runner = lock(&self.runner).take();
        self.shared.long_turns.wake();
        if let Some(watchdog) = self.watchdog.get() {
            let _ = watchdog.unpark();
        }
        drop_contained(runner);
        self.shared.coordinator.announce_end();
    }
}
