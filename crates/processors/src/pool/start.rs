//! How a pool is started, and how it starts one thread.

use std::io;
use std::num::NonZeroU64;

use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::thread;
use filch_sync::{Arc, lock};

use crate::pool::config::StartError;
use crate::pool::processors::{Processors, StartThread};
use crate::thread::beginning::{Beginning, Teller, Thread, ThreadError};
use crate::thread::handles::Machines;
use crate::thread::main_loop::run_machine;
use crate::thread::runner::Runner;

/// What threads are made from. The pool keeps it until its last thread exits.
struct Starter<T, R: Runner<T>> {
    pool: Arc<Processors<T>>,
    runner: Arc<R>,
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
            let outcome = run_machine(&pool.shared, &*runner, machine, &parker, begun);
            // A caller that joins the threads expects that they keep nothing any more.
            drop_contained(runner);
            if let Err(message) = outcome {
                coordinator.abandon(machine, parker);
                return teller.tell(Err(ThreadError::Scratch(message)));
            }
            pool.handles.join_former(machine);
            coordinator.exit(machine, parker);
            pool.end_after(machine);
        };
        Thread::new(machine, main)
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
        Self::start_by(pool, runner, |machine| pool.try_start_thread(machine))
    }

    /// [`start`](Self::start), with threads that `spawn` makes: it must see to it that a thread
    /// calls [`run`](Thread::run), or say why there is none. It is called once for each processor,
    /// one after the other, and not after the return. Threads that the pool needs later, for
    /// [`blocking`](Self::blocking) calls or because it was resized, it makes itself: a
    /// [limit](crate::Config::thread_limit) can see to it that there are none.
    ///
    /// [`Machines::join`] does not wait for threads that `spawn` made, which are the caller's.
    ///
    /// # Errors
    /// As `start`. A `spawn` that panics has refused the thread, and so has one that drops it.
    pub fn start_with<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        mut spawn: impl FnMut(Thread) -> io::Result<()>,
    ) -> Result<Machines, StartError> {
        Self::start_by(pool, runner, |machine| {
            pool.begin_thread(machine, |thread| match catch_panic(|| spawn(thread)) {
                Ok(spawned) => spawned,
                Err(message) => Err(io::Error::other(message)),
            })
        })
    }

    fn start_by<R: Runner<T>>(
        pool: &Arc<Self>,
        runner: Arc<R>,
        mut start_thread: impl FnMut(usize) -> Result<(), ThreadError>,
    ) -> Result<Machines, StartError> {
        let resizing = lock(&pool.handles.resizing);
        if pool.is_stopping() {
            return Err(StartError::Stopped);
        }
        {
            let mut starter = lock(&pool.starter);
            if starter.is_some() {
                return Err(StartError::AlreadyStarted);
            }
            *starter = Some(Box::new(Starter {
                pool: Arc::clone(pool),
                runner,
            }));
        }
        let machines = Machines {
            handles: Arc::clone(&pool.handles),
        };
        let count = pool.count();
        pool.shared.queues.reach(count);
        let mut refusal = None;
        let complete = pool.shared.coordinator.start_all(count, |machine| {
            refusal = start_thread(machine).err();
            refusal.is_none()
        });
        if complete {
            return Ok(machines);
        }
        drop(resizing);
        pool.stop();
        machines.join();
        // If not even one thread could be had, there was none to do that.
        pool.end_if_deserted();
        // The limit has been checked, so if it was not the system, another thread has stopped the
        // pool meanwhile.
        Err(refusal.map_or(StartError::Stopped, StartError::from))
    }

    /// Starts a machine's thread, and waits until that can run tasks.
    pub(crate) fn try_start_thread(&self, machine: usize) -> Result<(), ThreadError> {
        self.begin_thread(machine, |thread| {
            let name = format!("{}-{machine}", self.config.thread_name);
            let mut builder = thread::Builder::new().name(name);
            if let Some(bytes) = self.config.stack_size {
                builder = builder.stack_size(bytes);
            }
            let start = || builder.spawn(|| thread.run());
            self.handles.start(machine, start)
        })
    }

    /// Has `spawn` start a machine's thread, and waits until that can run tasks.
    fn begin_thread(
        &self,
        machine: usize,
        spawn: impl FnOnce(Thread) -> io::Result<()>,
    ) -> Result<(), ThreadError> {
        let beginning = Arc::new(Beginning::default());
        let thread = {
            let starter = lock(&self.starter);
            let Some(starter) = &*starter else {
                let error = io::Error::other("the pool does not run");
                return Err(ThreadError::System(error));
            };
            starter.thread(machine, Teller(Arc::clone(&beginning)))
        };
        // Without the lock, here and below: the thread makes its scratch.
        if let Err(error) = spawn(thread) {
            beginning.refuse(error);
        }
        beginning.wait().inspect_err(|_| {
            // It has nothing left to do but to exit.
            self.handles.join_former(machine);
        })
    }
}
