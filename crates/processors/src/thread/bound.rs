//! Tasks that are bound to a thread: the threads that are reserved for them, and how a machine
//! handles those of its own and of others.

use std::fmt;
use std::sync::Arc;

use crate::pool::config::PoolError;
use crate::pool::processors::Processors;
use crate::pool::runner::Runner;
use crate::protocol::state::synced::{BoundId, MAX_BOUND};
use crate::protocol::{AfterBound, Permit};
use crate::thread::machine::Machine;

/// A thread that runs the tasks that are bound to it, and nothing else: made by
/// [`Processors::reserve_thread`].
///
/// When it is dropped the thread is released. What waits for it then it still runs; after that it
/// is an ordinary thread, and a task that still names it runs on whichever thread finds it. Nothing
/// is lost.
#[must_use = "a thread that is released at once runs nothing"]
#[doc(alias = "LockOSThread")]
pub struct BoundThread<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    id: BoundId,
}

impl<T: Send + 'static> BoundThread<T> {
    /// Returns what [`Runner::bound_to`](crate::Runner::bound_to) answers for the tasks that are to
    /// run on this thread.
    pub fn id(&self) -> BoundId {
        self.id
    }
}

impl<T: Send + 'static> Drop for BoundThread<T> {
    fn drop(&mut self) {
        let shared = &self.pool.shared;
        let close = || shared.bound_tasks.is_done(self.id, true);
        shared.coordinator.unbind(self.id, close);
    }
}

impl<T: Send + 'static> fmt::Debug for BoundThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundThread").field(&self.id).finish()
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Starts a thread for tasks that must all run on one: because a library wants to be called
    /// from the thread that it was opened on, or keeps something in thread-local storage. A task is
    /// bound to it if [`Runner::bound_to`](crate::Runner::bound_to) says so.
    ///
    /// A bound task is scheduled and found like any other; the thread that has found it calls this
    /// one, which gets an idle processor, or that thread's, as long as it has tasks. If this one is
    /// busy, or in a [`blocking`](Self::blocking) call, tasks that are found for it wait, first in,
    /// first out, even beside an idle processor. A wake-up is some five microseconds.
    ///
    /// The thread does not count for [`Config::thread_limit`](crate::Config::thread_limit); at most
    /// 256 can be reserved at a time. It need not be released before the pool is stopped. If the
    /// runner panics when it is to make the thread's [scratch](crate::Runner::scratch), the thread
    /// is released.
    ///
    /// # Errors
    /// [`PoolError::NotRunning`], [`PoolError::Stopped`], [`PoolError::Reserved`],
    /// [`PoolError::Thread`].
    pub fn reserve_thread(pool: &Arc<Self>) -> Result<BoundThread<T>, PoolError> {
        let _one_at_a_time = pool.lock_running()?;
        let tasks = &pool.shared.bound_tasks;
        let mut opened = None;
        let bound = pool.shared.coordinator.bind(|id| {
            opened = Some(id);
            tasks.open(id);
        });
        if !matches!(bound, Ok(Some(_))) {
            // All others may have exited meanwhile, and relied on this one.
            pool.end_if_deserted();
        }
        match bound {
            Ok(Some(id)) => Ok(BoundThread {
                pool: Arc::clone(pool),
                id,
            }),
            Err(error) => {
                // Nothing is bound to it: nobody else knows the name.
                opened.and_then(|id| tasks.close(id));
                Err(PoolError::Thread(error))
            }
            Ok(None) if pool.shared.coordinator.is_over() => Err(PoolError::Stopped),
            Ok(None) => Err(PoolError::Reserved { limit: MAX_BOUND }),
        }
    }
}

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Queues a task for the thread that it is bound to, which comes for it: between two tasks this
    /// one hands its processor over.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_to_its_thread(&self, thread: BoundId, task: T, scratch: &mut R::Scratch) {
        match self.shared.bound_tasks.push(thread, task) {
            // The thread was released.
            Err(task) => self.run(task, scratch),
            Ok(()) => {
                if self.shared.coordinator.call_bound(thread) {
                    self.count(|counters| &counters.sent_to_bound);
                }
            }
        }
    }

    /// Runs what is bound to this machine, until there is no more, and gives the processor away.
    /// The permit, if the machine is not bound any more.
    pub(crate) fn work_bound(
        &self,
        permit: Permit,
        id: BoundId,
        scratch: &mut R::Scratch,
    ) -> Option<Permit> {
        let Self { shared, .. } = self;
        let mut permit = permit;
        loop {
            self.current.permit.replace(Some(permit));
            while let Some(task) = shared.bound_tasks.pop(id) {
                self.run(task, scratch);
                self.give_way();
            }
            let Some(last) = self.current.permit.take() else {
                unreachable!("a machine that runs tasks has a processor");
            };
            let is_done = |close| shared.bound_tasks.is_done(id, close);
            let coordinator = &shared.coordinator;
            permit = match coordinator.wait_for_bound(last, self.number, is_done, &shared.queues) {
                AfterBound::Waits => return None,
                AfterBound::Another(permit) => permit,
                AfterBound::Unbound(permit) => {
                    self.bound.set(None);
                    return Some(permit);
                }
            };
        }
    }

    /// Lets the machine go away for a moment between two tasks, as if for a blocking call, and get
    /// in line, if the processor is to be given up, or others wait for one.
    fn give_way(&self) {
        let control = self.shared.coordinator.control_word();
        let is_wanted = |processor| control.waiting() > 0 || control.is_surplus(processor);
        if self.current.processor().is_some_and(is_wanted) && self.pool.part(&self.current) {
            self.pool.come_back(&self.current);
        }
    }
}
