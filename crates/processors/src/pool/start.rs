//! How a pool is started, and how it starts one thread.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc as StdArc;

use filch_parker::Parker;
use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::thread;
use filch_sync::{Arc, lock};

use crate::pool::config::StartError;
use crate::pool::processors::{Processors, StartThread};
use crate::pool::runner::Runner;
use crate::protocol::state::binding::BoundId;
use crate::thread::beginning::{Beginning, Teller, Thread, ThreadError};
use crate::thread::guest::{Awaited, Visit};
use crate::thread::handles::Machines;
use crate::thread::hooks::Hooks;
use crate::thread::main_loop::run_machine;

/// What threads are made from. The pool keeps it until its last thread exits.
struct Starter<T, R: Runner<T>> {
    pool: Arc<Processors<T>>,
    runner: Arc<R>,
}

/// The runner, with its pool at hand.
struct InPool<'a, T, R> {
    pool: &'a Arc<Processors<T>>,
    runner: &'a R,
}

impl<T, R: Runner<T>> Hooks<T> for InPool<'_, T, R> {
    type Scratch = R::Scratch;

    fn scratch(&self, machine: usize) -> R::Scratch {
        self.runner.scratch(machine)
    }

    #[inline]
    fn bound_to(&self, task: &T) -> Option<BoundId> {
        self.runner.bound_to(task)
    }

    #[inline]
    fn label(&self, task: &T) -> Option<NonZeroU64> {
        self.runner.label(task)
    }

    #[inline]
    fn on_processor(&self, processor: usize, scratch: &mut R::Scratch) {
        self.runner.on_processor(processor, scratch);
    }

    #[inline]
    fn run(&self, task: T, scratch: &mut R::Scratch) {
        self.runner.run(task, self.pool, scratch);
    }
}

/// A thread for which nobody waits: if it does not come, the pool must know.
struct Expected<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    machine: usize,
    has_come: bool,
}

impl<T: Send + 'static> Drop for Expected<T> {
    fn drop(&mut self) {
        if !self.has_come {
            let shared = &self.pool.shared;
            shared.coordinator.stay_away(self.machine, &shared.queues);
            self.pool.end_if_deserted();
        }
    }
}

impl<T: Send + 'static, R: Runner<T>> StartThread<T> for Starter<T, R> {
    fn thread(&self, machine: usize, teller: Teller) -> Thread {
        let pool = Arc::clone(&self.pool);
        let runner = Arc::clone(&self.runner);
        let main = move || {
            if !teller.begin() {
                return;
            }
            let coordinator = &pool.shared.coordinator;
            let parker = coordinator.enter(machine);
            let begun = || teller.tell(Ok(()));
            let hooks = InPool {
                pool: &pool,
                runner: &*runner,
            };
            let outcome = run_machine(&pool.shared, hooks, machine, &parker, begun);
            // A caller that joins the threads expects that they keep nothing any more.
            drop_contained(runner);
            if let Err(message) = outcome {
                coordinator.abandon(machine, parker);
                return teller.tell(Err(ThreadError::Scratch(message)));
            }
            pool.exit(machine, parker);
        };
        Thread::new(machine, main)
    }

    fn expected_thread(&self, machine: usize, teller: Teller) -> Thread {
        let runner = Arc::clone(&self.runner);
        let mut expected = Expected {
            pool: Arc::clone(&self.pool),
            machine,
            has_come: false,
        };
        let main = move || {
            if !teller.begin() {
                return;
            }
            expected.has_come = true;
            let pool = &expected.pool;
            let coordinator = &pool.shared.coordinator;
            let parker = coordinator.enter(machine);
            let begun = || coordinator.arrive(machine);
            let hooks = InPool {
                pool,
                runner: &*runner,
            };
            let outcome = run_machine(&pool.shared, hooks, machine, &parker, begun);
            drop_contained(runner);
            if let Err(message) = outcome {
                coordinator.fail(machine, parker, &pool.shared.queues);
                pool.end_if_deserted();
                panic!("a thread cannot run: its scratch panicked: {message}");
            }
            pool.exit(machine, parker);
        };
        Thread::new(machine, main)
    }

    fn run_visit(&self, visit: Visit, task: T, awaited: &dyn Awaited<T>) -> (Visit, Option<T>) {
        let Self { pool, runner } = self;
        visit.run(
            task,
            awaited,
            &InPool {
                pool,
                runner: &**runner,
            },
            &pool.shared,
        )
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
    /// Starts a thread for each processor of `pool`. None of them runs a task before all are there,
    /// each with its [scratch](Runner::scratch).
    ///
    /// # Errors
    /// [`StartError::AlreadyStarted`]; [`StartError::Stopped`]; [`StartError::Thread`] and
    /// [`StartError::Scratch`], after which the pool is stopped and the threads that had been
    /// started have exited.
    pub fn start<R: Runner<T>>(pool: &Arc<Self>, runner: Arc<R>) -> Result<Machines, StartError> {
        let mut refusal = None;
        let start_thread = |machine| {
            refusal = pool.try_start_thread(machine).err();
            refusal.is_none()
        };
        let start = |count| pool.shared.coordinator.start_all(count, start_thread);
        if let Some(machines) = Self::start_by(pool, runner, start)? {
            return Ok(machines);
        }
        Machines {
            handles: Arc::clone(&pool.handles),
        }
        .join();
        // The limit has been checked, so if it was not the system, another thread has stopped the
        // pool meanwhile.
        Err(refusal.map_or(StartError::Stopped, StartError::from))
    }

    /// [`start`](Self::start), without waiting for the threads: each runs tasks when it is there,
    /// and has its scratch. A scratch that panics costs its thread, which panics with that.
    ///
    /// # Errors
    /// As `start`, but for the scratch. Threads that had been started run what has been scheduled,
    /// and exit.
    pub fn start_unawaited<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
    ) -> Result<Machines, StartError> {
        Self::expect(pool, runner, |thread| {
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
        Self::expect(pool, runner, |thread| match catch_panic(|| spawn(thread)) {
            Ok(spawned) => spawned,
            Err(message) => Err(io::Error::other(message)),
        })
    }

    fn expect<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        mut spawn: impl FnMut(Thread) -> io::Result<()>,
    ) -> Result<Machines, StartError> {
        let mut refusal = None;
        let make = |machine| {
            let made = pool.make_thread(
                |starter, teller| starter.expected_thread(machine, teller),
                &mut spawn,
            );
            refusal = made.and_then(|thread| thread.refusal()).err();
            refusal.is_none()
        };
        let start = |count| pool.shared.coordinator.expect_all(count, make);
        match Self::start_by(pool, runner, start)? {
            Some(machines) => Ok(machines),
            None => Err(refusal.map_or(StartError::Stopped, StartError::from)),
        }
    }

    /// `None`: `start` has said so, and the pool is stopped.
    fn start_by<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        start: impl FnOnce(usize) -> bool,
    ) -> Result<Option<Machines>, StartError> {
        let resizing = lock(&pool.handles.resizing);
        if pool.is_stopping() {
            return Err(StartError::Stopped);
        }
        {
            let mut starter = lock(&pool.starter);
            if starter.is_some() {
                return Err(StartError::AlreadyStarted);
            }
            *starter = Some(StdArc::new(Starter {
                pool: Arc::clone(pool),
                runner,
            }));
        }
        let machines = Machines {
            handles: Arc::clone(&pool.handles),
        };
        let count = pool.count();
        pool.shared.queues.reach(count);
        if start(count) {
            return Ok(Some(machines));
        }
        drop(resizing);
        pool.stop();
        Ok(None)
    }

    /// Starts a machine's thread, and waits until that can run tasks.
    pub(crate) fn try_start_thread(&self, machine: usize) -> Result<(), ThreadError> {
        let beginning = self.make_thread(
            |starter, teller| starter.thread(machine, teller),
            |thread| self.spawn(machine, || thread.run()),
        )?;
        // Without the starter's lock, here and in `make_thread`: the thread makes its scratch.
        beginning.wait().inspect_err(|_| {
            // It has nothing left to do but to exit.
            self.handles.join_former(machine);
        })
    }

    /// Has the system make a thread, which is joined with the pool's.
    fn spawn(&self, machine: usize, main: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let name = format!("{}-{machine}", self.config.thread_name);
        let mut builder = thread::Builder::new().name(name);
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        self.handles.start(machine, || builder.spawn(main))
    }

    /// Has the starter make a thread, and `spawn` see to it that it runs.
    fn make_thread(
        &self,
        make: impl FnOnce(&dyn StartThread<T>, Teller) -> Thread,
        spawn: impl FnOnce(Thread) -> io::Result<()>,
    ) -> Result<Arc<Beginning>, ThreadError> {
        let beginning = Arc::new(Beginning::default());
        let thread = {
            let starter = lock(&self.starter);
            let Some(starter) = &*starter else {
                let error = io::Error::other("the pool does not run");
                return Err(ThreadError::System(error));
            };
            make(&**starter, Teller(Arc::clone(&beginning)))
        };
        if let Err(error) = spawn(thread) {
            beginning.refuse(error);
        }
        Ok(beginning)
    }

    /// The machine's thread has nothing left to do but to exit.
    fn exit(&self, machine: usize, parker: Parker) {
        self.handles.join_former(machine);
        self.shared.coordinator.exit(machine, parker);
        self.end_after(machine);
    }
}
