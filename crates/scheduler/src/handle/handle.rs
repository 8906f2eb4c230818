//! The handle to a scheduler, and what all its handles share.

use std::error::Error;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::process::abort;
use std::ptr::NonNull;
use std::sync::RwLock;
use std::task::RawWakerVTable;
use std::{fmt, ptr};

use filch_blocking::Calls;
use filch_processors::Processors;
use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::{Arc, CachePadded, Mutex};

use crate::handle::extensions::Extensions;
use crate::handle::receiver::Elsewhere;
use crate::handle::shutdown::LeftTimers;
use crate::observe::running::CommandLabel;
use crate::observe::stats::Counters;
use crate::table::admission::Admission;
use crate::table::body::Task;
use crate::table::pid::Pid;
use crate::table::table::Table;
use crate::{LifeCycle, Observer, Protocol, Stats, WorkerStats};

/// Everything one does with a scheduler, from any thread: submit processes, send messages, look at
/// what is going on.
///
/// A cheap clone of a reference. It does not keep the workers alive: the
/// [`Scheduler`](crate::Scheduler) does.
pub struct Handle<P: Protocol> {
    pub(crate) shared: Owned<Shared<P>>,
}

/// What the handles, the workers and the completions of one scheduler share.
pub(crate) struct Shared<P: Protocol> {
    pub(crate) processors: Arc<Processors<Task<P>>>,
    pub(crate) table: Table<P>,
    /// What crates above keep here.
    pub(crate) extensions: Extensions,
    /// How messages get to other nodes.
    pub(crate) elsewhere: RwLock<Elsewhere<P>>,
    /// What the wakers of its processes do, at the one address by which they are known.
    pub(crate) waker_functions: &'static RawWakerVTable,
    /// One thread at a time looks at what the futures wait for.
    pub(crate) looking: Mutex<()>,
    pub(crate) admission: Admission,
    pub(crate) hooks: Option<Box<dyn LifeCycle<P>>>,
    /// What is noted of the processes, if that is asked for.
    pub(crate) journal: Option<Box<dyn Observer>>,
    /// How many events the first step of a process is given.
    pub(crate) first_allowance: u32,
    /// One per worker, which alone writes it.
    pub(crate) counters: Box<[CachePadded<Counters>]>,
    /// Set when the patience of a shutdown has run out: processes are closed instead of stepped.
    pub(crate) aborting: AtomicBool,
    /// How many were.
    pub(crate) aborted: AtomicUsize,
    /// How many messages were dropped for want of room.
    pub(crate) dropped: AtomicU64,
    /// The commands that run on blocking threads, which may outlive the scheduler.
    pub(crate) calls: Arc<Calls<CommandLabel>>,
    /// The threads of the timers that went with the handler.
    pub(crate) left_timers: Arc<LeftTimers>,
}

impl<P: Protocol> Retire for Shared<P> {
    /// Handles to processes are left, at most, wakers of futures, and what is outstanding.
    fn retire(&self) -> bool {
        self.table.retire()
    }
}

impl<P: Protocol> Clone for Handle<P> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<P: Protocol> Handle<P> {
    pub(crate) fn table(&self) -> &Table<P> {
        &self.shared.table
    }

    /// The number of this scheduler while it is there, by which timers know it.
    pub fn number(&self) -> usize {
        ptr::from_ref(&*self.shared).addr()
    }

    /// The worker that the calling thread is just now. User code that blocks may come back on
    /// another one: ask again.
    pub(crate) fn worker(&self) -> usize {
        let Some(worker) = self.shared.processors.current() else {
            unreachable!("tasks run on workers");
        };
        worker
    }

    /// The process in whose step the calling thread is, or in what follows its end.
    pub(crate) fn current_process(&self) -> Option<Pid> {
        let label = self.shared.processors.current_label();
        label.and_then(|label| self.labelled(label))
    }

    /// The process that a task with that label is of.
    pub(crate) fn labelled(&self, label: NonZeroU64) -> Option<Pid> {
        self.table().occupant(label.get() - 1)
    }

    /// The counters of the [worker](Self::worker).
    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters[self.worker()]
    }

    /// Whether the process `pid` is of this scheduler and has not begun to end.
    pub fn lives(&self, pid: Pid) -> bool {
        self.table().lives(pid)
    }

    /// Whether the calling thread is one of this scheduler's workers, which must not wait; or takes
    /// a step for one, as a guest.
    pub fn is_worker(&self) -> bool {
        self.shared.processors.is_machine()
    }

    /// What its threads and run queues look like, to be printed when something hangs.
    pub fn workers_dump(&self) -> filch_processors::Dump {
        self.shared.processors.dump()
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.shared.processors.count()
    }

    /// The number of processes that live now. Without a [limit](crate::Builder::limit) a guess,
    /// while processes come and go.
    pub fn live(&self) -> usize {
        self.shared.admission.live()
    }

    /// The PIDs of the live processes. Processes that come and go meanwhile may be missing.
    pub fn processes(&self) -> Vec<Pid> {
        self.table().iter().map(|process| process.pid()).collect()
    }

    /// What the scheduler has done so far. Each number was true at some moment during the call.
    pub fn stats(&self) -> Stats {
        let processors = self.shared.processors.stats();
        Stats {
            live: self.live(),
            // ORDERING: Relaxed: a figure for people.
            dropped: self.shared.dropped.load(Ordering::Relaxed),
            queues: self.shared.processors.queue_lengths(),
            workers: processors
                .into_iter()
                .zip(&self.shared.counters)
                .map(|(processor, counters)| WorkerStats {
                    processor,
                    ..counters.snapshot()
                })
                .collect(),
        }
    }
}

// As for a `Scheduler`.
impl<P: Protocol> UnwindSafe for Handle<P> {}
impl<P: Protocol> RefUnwindSafe for Handle<P> {}

impl<P: Protocol> fmt::Debug for Handle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("live", &self.live())
            .finish_non_exhaustive()
    }
}

/// A call that waits for the scheduler's workers came from one of these workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalledFromInside;

impl fmt::Display for CalledFromInside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "called on a worker of this scheduler, which would wait for itself: call it from \
             another thread",
        )
    }
}

impl Error for CalledFromInside {}

/// What is left to others when its last owner goes.
pub(crate) trait Retire {
    /// The last owner goes. Whether nobody has to do with the value any more; if somebody has, it
    /// will be [freed](Owned::free) by the last of those.
    fn retire(&self) -> bool;
}

/// One of the owners of a value: an `Arc`, but for the end. When the last owner goes, the value is
/// [retired](Retire), and those that keep it in another way have it [lent](Self::lent).
pub(crate) struct Owned<T: Retire>(NonNull<CachePadded<Block<T>>>);

/// Padded: each owner writes the count, and others read the rest.
struct Block<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: as for an `Arc`: the value is shared, and dropped by any thread that has it.
unsafe impl<T: Retire + Send + Sync> Send for Owned<T> {}
// SAFETY: as above.
unsafe impl<T: Retire + Send + Sync> Sync for Owned<T> {}

impl<T: Retire> Owned<T> {
    pub(crate) fn new(value: T) -> Self {
        let owners = AtomicUsize::new(1);
        let block = Box::new(CachePadded::new(Block { owners, value }));
        Self(NonNull::from(Box::leak(block)))
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: it is freed when no owner is left, and nobody else that keeps it.
        unsafe { self.0.as_ref() }
    }

    /// For those that keep the value in another way: see [`lent`](Self::lent).
    pub(crate) fn as_ptr(&self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// The same again, not counted.
    ///
    /// # Safety
    /// The pointer is [that](Self::as_ptr) of an owner of such a value. The result is used only
    /// while its holder keeps the value; it is neither cloned nor dropped.
    #[inline]
    pub(crate) unsafe fn lent(pointer: *mut ()) -> Self {
        // SAFETY: an owner's pointer is not null (contract).
        Self(unsafe { NonNull::new_unchecked(pointer.cast()) })
    }

    /// Frees the value.
    ///
    /// # Safety
    /// It is retired, and the caller was the last that kept it.
    #[cold]
    pub(crate) unsafe fn free(lent: &Self) {
        // SAFETY: made by `Box::leak`, and nobody has to do with it any more (contract).
        drop(unsafe { Box::from_raw(lent.0.as_ptr()) });
    }
}

impl<T: Retire> Deref for Owned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.block().value
    }
}

impl<T: Retire> Clone for Owned<T> {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed: the caller's own reference keeps the value, and whatever is done by
        // the new one is released by its drop.
        let before = self.block().owners.fetch_add(1, Ordering::Relaxed);
        if before > usize::MAX / 2 {
            // Clones that are forgotten: one more turn, and the value would be freed under them.
            abort();
        }
        Self(self.0)
    }
}

impl<T: Retire> Drop for Owned<T> {
    fn drop(&mut self) {
        // ORDERING: Release, partner of the fence below in the last owner.
        if self.block().owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // ORDERING: Acquire, partner of the Release above in the other owners: what they did
        // happens before the value is retired.
        fence(Ordering::Acquire);
        if self.retire() {
            // SAFETY: nobody else keeps it.
            unsafe { Self::free(self) };
        }
    }
}
