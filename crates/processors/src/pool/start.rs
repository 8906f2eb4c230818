//! How a pool is started, and how it starts one thread.

use std::io;
use std::num::NonZeroU64;

use filch_sync::panic::{catch_panic, drop_contained};
use filch_sync::thread::{self, JoinHandle};
use filch_sync::{Arc, lock};

use crate::pool::config::{Config, StartError, ThreadError};
use crate::pool::processors::{Processors, StartThread};
use crate::thread::beginning::Beginning;
use crate::thread::handles::Machines;
use crate::thread::main_loop::run_machine;
use crate::thread::runner::Runner;

/// What threads are made from. The pool keeps it until its last thread exits.
struct Starter<T, R: Runner<T>> {
    pool: Arc<Processors<T>>,
    runner: Arc<R>,
    config: Config,
}

impl<T: Send + 'static, R: Runner<T>> StartThread<T> for Starter<T, R> {
    fn start(&self, machine: usize, beginning: Arc<Beginning>) -> io::Result<JoinHandle<()>> {
        let mut builder =
            thread::Builder::new().name(format!("{}-{machine}", self.config.thread_name));
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        let pool = Arc::clone(&self.pool);
        let runner = Arc::clone(&self.runner);
        builder.spawn(move || {
            let coordinator = &pool.shared.coordinator;
            let parker = coordinator.enter(machine);
            let begun = || beginning.tell(Ok(()));
            let outcome = run_machine(&pool.shared, &*runner, machine, &parker, begun);
            // A caller that joins the threads expects that they keep nothing any more.
            drop_contained(runner);
            if let Err(message) = outcome {
                coordinator.abandon(machine, parker);
                return beginning.tell(Err(message));
            }
            pool.handles.join_former(machine);
            coordinator.exit(machine, parker);
            pool.end_after(machine);
        })
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
                config: pool.config,
            }));
        }
        let machines = Machines {
            handles: Arc::clone(&pool.handles),
        };
        let count = pool.count();
        pool.shared.queues.reach(count);
        let mut refusal = None;
        let complete = pool.shared.coordinator.start_all(count, |machine| {
            refusal = pool.try_start_thread(machine).err();
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
        let beginning = Arc::new(Beginning::default());
        let start = || {
            let starter = lock(&self.starter);
            let Some(starter) = &*starter else {
                return Err(io::Error::other("the pool does not run"));
            };
            let start = |machine| starter.start(machine, Arc::clone(&beginning));
            self.handles.start(machine, start)
        };
        start().map_err(ThreadError::System)?;
        // Without the locks: the runner is making a scratch.
        beginning.wait().map_err(|message| {
            // It has nothing left to do but to exit.
            self.handles.join_former(machine);
            ThreadError::Scratch(message)
        })
    }
}
