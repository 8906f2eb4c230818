//! Tasks bound to one thread: where they wait for it, how it runs them, and how it is reserved.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::io;

use filch_sync::{Arc, Mutex};

use crate::bond::{BoundId, MOST_BOUND, Release};
use crate::current::Current;
use crate::hold::Hold;
use crate::machine::{Machine, Parted};
use crate::processors::{Processors, Runner};

/// Tasks that have been found, and wait for their thread, which is busy or about to be woken. One
/// lock for all: there are few.
pub(crate) struct BoundQueues<T>(Mutex<BTreeMap<BoundId, VecDeque<T>>>);

impl<T> Default for BoundQueues<T> {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl<T> BoundQueues<T> {
    fn open(&self, id: BoundId) {
        crate::lock(&self.0).insert(id, VecDeque::new());
    }

    /// Behind the others of its thread.
    ///
    /// # Errors
    /// The task, if its thread has been released.
    fn push(&self, id: BoundId, task: T) -> Result<(), T> {
        match crate::lock(&self.0).get_mut(&id) {
            None => Err(task),
            Some(queue) => {
                queue.push_back(task);
                Ok(())
            }
        }
    }

    fn pop(&self, id: BoundId) -> Option<T> {
        crate::lock(&self.0).get_mut(&id)?.pop_front()
    }

    /// How many wait for that thread, and what `name` calls the first ones.
    pub(crate) fn waiting(
        &self,
        id: BoundId,
        most_names: usize,
        name: impl Fn(&T) -> Option<String>,
    ) -> (usize, Vec<String>) {
        let queues = crate::lock(&self.0);
        let queue = queues.get(&id);
        let names = queue.into_iter().flatten().take(most_names);
        (
            queue.map_or(0, VecDeque::len),
            names.filter_map(name).collect(),
        )
    }

    /// Whether none waits for that thread; then, with `close`, none ever will.
    fn is_done(&self, id: BoundId, close: bool) -> bool {
        let mut queues = crate::lock(&self.0);
        let done = queues.get(&id).is_none_or(VecDeque::is_empty);
        if done && close {
            queues.remove(&id);
        }
        done
    }
}

/// A thread that runs the tasks that are bound to it, and nothing else: made by
/// [`Processors::reserve_thread`].
///
/// When it is dropped the thread is released. What waits for it then it still runs; after that it
/// is a thread like any other, and a task that still names it runs on whichever thread finds it.
/// Nothing is lost.
#[must_use = "a thread that is released at once runs nothing"]
pub struct BoundThread<T: Send + 'static> {
    pool: Arc<Processors<T>>,
    id: BoundId,
}

impl<T: Send + 'static> BoundThread<T> {
    /// What [`Runner::bound_to`] answers for the tasks that are to run on this thread.
    pub fn id(&self) -> BoundId {
        self.id
    }
}

impl<T: Send + 'static> Drop for BoundThread<T> {
    fn drop(&mut self) {
        let close = || self.pool.bound.is_done(self.id, true);
        self.pool.crew.unbind(self.id, close);
    }
}

impl<T: Send + 'static> fmt::Debug for BoundThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundThread").field(&self.id).finish()
    }
}

/// Why no thread could be reserved.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReserveError {
    /// The pool has not been started.
    NotRunning,
    /// The pool has been stopped.
    Stopped,
    /// As many threads are reserved as may be; or were just now, and those that were released have
    /// not left yet.
    Limit {
        /// So many.
        limit: usize,
    },
    /// The system refused a thread.
    Thread(io::Error),
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRunning => f.write_str("the pool has not been started"),
            Self::Stopped => f.write_str("the pool has been stopped"),
            Self::Limit { limit } => write!(
                f,
                "{limit} threads are reserved, which is the most that may be: release one"
            ),
            Self::Thread(error) => write!(f, "the system refused a thread ({error})"),
        }
    }
}

impl Error for ReserveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Starts a thread for tasks that must all run on one: because a library wants to be called
    /// from the thread that it was opened on, or keeps something in thread-local storage. A task is
    /// bound to it if [`Runner::bound_to`] says so.
    ///
    /// A bound task is scheduled and found like any other. The thread that has found it gives its
    /// processor to this one, and rests; when this one has no more tasks, or one of them makes a
    /// [`blocking`](Self::blocking) call, it gives the processor back. If it is busy, or in a
    /// blocking call, the tasks that are found for it meanwhile wait, first in, first out: no other
    /// thread may run them, though a processor be idle.
    ///
    /// The thread is not one of [`Config::thread_limit`](crate::Config::thread_limit), or the
    /// blocking calls for which that has been chosen would find none left; at most 256 can be
    /// reserved at a time. It is released by dropping what this returns. It need not be released
    /// before the pool is stopped; it leaves when all tasks have run.
    ///
    /// A bound task costs two wake-ups of sleeping threads, there and back: some ten microseconds.
    ///
    /// # Errors
    /// See [`ReserveError`].
    pub fn reserve_thread(pool: &Arc<Self>) -> Result<BoundThread<T>, ReserveError> {
        // What is begun here, who joins the threads waits for.
        let _one_at_a_time = crate::lock(&pool.threads.resizing);
        // In this order: who has none because the pool is over, sees that it has been stopped.
        let not_started = crate::lock(&pool.starter).is_none();
        if pool.is_stopping() {
            return Err(ReserveError::Stopped);
        }
        if not_started {
            return Err(ReserveError::NotRunning);
        }
        let mut refusal = None;
        let bound = pool.crew.bind(|machine| {
            let outcome = pool.try_start_thread(machine);
            refusal = outcome.err();
            refusal.is_none()
        });
        if bound.is_none() {
            // All others may have left meanwhile, and relied on this one.
            pool.end_if_deserted();
        }
        match (bound, refusal) {
            (Some(id), _) => {
                // Nobody knows the number yet, so nothing has been bound to it.
                pool.bound.open(id);
                Ok(BoundThread {
                    pool: Arc::clone(pool),
                    id,
                })
            }
            (None, Some(error)) => Err(ReserveError::Thread(error)),
            (None, None) if pool.crew.is_over() => Err(ReserveError::Stopped),
            (None, None) => Err(ReserveError::Limit { limit: MOST_BOUND }),
        }
    }
}

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    /// Runs a task, or sees to it that its thread does, and then its processor may have gone there.
    #[inline]
    pub(crate) fn run_where_it_belongs(&self, task: T, scratch: &mut R::Scratch) -> Option<Parted> {
        match self.runner.bound_to(&task) {
            None => {
                self.run(task, scratch);
                None
            }
            Some(thread) => self.send_to_its_thread(thread, task, scratch),
        }
    }

    /// For a bound task. Apart, so that nothing of it is in the way of all others.
    #[cold]
    #[inline(never)]
    fn send_to_its_thread(
        &self,
        thread: BoundId,
        task: T,
        scratch: &mut R::Scratch,
    ) -> Option<Parted> {
        match self.pool.bound.push(thread, task) {
            // Released.
            Err(task) => {
                self.run(task, scratch);
                None
            }
            Ok(()) => self.lend(thread),
        }
    }

    /// Gives the processor to a bound machine, if that waits, and rests.
    fn lend(&self, to: BoundId) -> Option<Parted> {
        let hold = self.current.hold.take()?;
        let counters = &self.pool.queues.processors[hold.processor()].counters;
        // Before it is given away: afterwards these figures are another thread's.
        counters.lent.add(1);
        match self.pool.crew.lend(hold, self.current.machine, to) {
            Ok(()) => Some(Parted::default()),
            Err(hold) => {
                counters.lent.take_back(1);
                self.keep(hold);
                None
            }
        }
    }

    fn keep(&self, hold: Hold) {
        self.current.hold.replace(Some(hold));
    }

    /// Runs what is bound to this machine, until there is no more, and gives the processor back.
    pub(crate) fn work_bound(&self, hold: Hold, id: BoundId, scratch: &mut R::Scratch) -> Parted {
        let pool = self.pool;
        let mut hold = hold;
        loop {
            self.keep(hold);
            while let Some(task) = pool.bound.pop(id) {
                self.run(task, scratch);
                self.give_way();
            }
            let Some(released) = self.current.hold.take() else {
                unreachable!("a machine that runs tasks has a processor");
            };
            let is_done = |close| pool.bound.is_done(id, close);
            hold = match pool.crew.release(released, self.current.machine, is_done) {
                Release::Returned => return Parted::default(),
                Release::Another(hold) => hold,
                Release::Unbound(hold) => {
                    self.bound.set(None);
                    return self.work(hold, None, scratch);
                }
            };
        }
    }

    /// Between two tasks: if the processor is to be given up, or others wait for one, the machine
    /// goes away for a moment, as if for a blocking call, and gets in line.
    fn give_way(&self) {
        let crew = &self.pool.crew;
        let Some(hold) = self.current.hold.take() else {
            return;
        };
        let notice = crew.notice();
        if notice.waiting == 0 && !notice.is_surplus(hold.processor()) {
            return self.keep(hold);
        }
        let Current {
            machine, parker, ..
        } = self.current;
        let queues = &self.pool.queues;
        let parted = if notice.is_surplus(hold.processor()) {
            crew.retire_for_call(hold, machine, queues)
        } else {
            // Its substitute is the one whose processor it is: none is started.
            crew.hand_off(hold, machine, |_| false, queues)
        };
        let hold = match parted {
            Ok(()) => crew.regain(machine, parker),
            Err(hold) => hold,
        };
        self.keep(hold);
    }
}
