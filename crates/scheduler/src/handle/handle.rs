//! The handle to a scheduler, and the data that all its handles share.

use std::any::Any;
use std::error::Error;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::process::abort;
use std::ptr::NonNull;
use std::sync::{Arc as StdArc, OnceLock};
use std::task::RawWakerVTable;
use std::{fmt, iter};

use filch_blocking::Calls;
use filch_processors::{Counter, Processors};
use filch_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::{Arc, CachePadded, Mutex};

use crate::handle::receiver::Elsewhere;
use crate::process::command::CommandLabel;
use crate::table::admission::Admission;
use crate::table::pid::Pid;
use crate::table::pinned::Pinned;
use crate::table::slot::Task;
use crate::table::table::Table;
use crate::{LifeCycle, Observer, Protocol};

/// The handle to a scheduler, for use from any thread: submit processes, send messages, inspect.
///
/// A reference, cheap to clone. It does not keep the workers alive: the
/// [`Scheduler`](crate::Scheduler) does.
///
/// An owner of the shared data, as an `Arc` is, but for the end: when the last owner goes, pins on
/// the table's slots may remain, of handles to processes, wakers of futures, and open commands.
/// They keep the data as well.
pub struct Handle<P: Protocol>(NonNull<Block<P>>);

/// Padded: each owner writes the count, and others read the rest.
pub(crate) type Block<P> = CachePadded<Shared<P>>;

/// The data that the handles, the workers and the completions of one scheduler share.
pub(crate) struct Shared<P: Protocol> {
    /// The number of handles.
    pub(crate) owners: AtomicUsize,
    pub(crate) processors: StdArc<Processors<Task<P>>>,
    pub(crate) table: Table<P>,
    /// The values of crates above.
    pub(crate) extensions: Extensions,
    /// The receiver of messages for other nodes.
    pub(crate) elsewhere: Mutex<Elsewhere<P>>,
    /// The wakers' functions of its processes, at the one address by which they are known.
    pub(crate) waker_functions: &'static RawWakerVTable,
    /// Held by the one thread that looks at what the futures wait for.
    pub(crate) looking: Mutex<()>,
    pub(crate) admission: Admission,
    pub(crate) hooks: Option<Box<dyn LifeCycle<P>>>,
    /// The observer of processes and commands, if there is one.
    pub(crate) observer: Option<Box<dyn Observer>>,
    /// The number of events that the first step of a process is given.
    pub(crate) first_allowance: u32,
    /// The counters of each worker, which only that worker writes.
    pub(crate) counters: Box<[CachePadded<Counters>]>,
    /// Set when the patience of a shutdown has run out: processes are closed instead of stepped.
    pub(crate) aborting: AtomicBool,
    /// The number of processes that were closed so.
    pub(crate) aborted: AtomicUsize,
    /// The number of messages that were dropped for want of room.
    pub(crate) dropped: AtomicU64,
    /// The commands that run on blocking threads, which may outlive the scheduler.
    pub(crate) calls: Arc<Calls<CommandLabel>>,
}

/// The figures of one worker, which alone writes them.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) steps: Counter,
    pub(crate) messages: Counter,
    pub(crate) commands: Counter,
    pub(crate) completions: Counter,
    pub(crate) empty_steps: Counter,
    pub(crate) ended: Counter,
    pub(crate) failed: Counter,
}

// SAFETY: as for an `Arc`: what is shared is Send and Sync, and dropped by any thread that has it.
unsafe impl<P: Protocol> Send for Handle<P> where Shared<P>: Send + Sync {}
// SAFETY: as above.
unsafe impl<P: Protocol> Sync for Handle<P> where Shared<P>: Send + Sync {}

impl<P: Protocol> Clone for Handle<P> {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed: the caller's own reference keeps the value, and whatever is done by
        // the new one is released by its drop.
        let before = self.shared().owners.fetch_add(1, Ordering::Relaxed);
        if before > usize::MAX / 2 {
            // Clones that are forgotten: one more turn, and the value would be freed under them.
            abort();
        }
        Self(self.0)
    }
}

impl<P: Protocol> Drop for Handle<P> {
    fn drop(&mut self) {
        // ORDERING: Release, partner of the fence below in the last owner.
        if self.shared().owners.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // ORDERING: Acquire, partner of the Release above in the other owners: what they did
        // happens before the table is retired.
        fence(Ordering::Acquire);
        if self.table().retire() {
            // SAFETY: nobody else keeps it.
            unsafe { self.free() };
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Makes the first owner.
    pub(crate) fn new(shared: Shared<P>) -> Self {
        let handle = Self(NonNull::from(Box::leak(Box::new(CachePadded::new(shared)))));
        handle.table().set_owner(handle.0);
        handle
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared<P> {
        // SAFETY: it is freed when no owner is left, and no pin, which keeps it, too.
        unsafe { self.0.as_ref() }
    }

    /// Makes an owner that is not counted.
    ///
    /// # Safety
    /// The table of such a value has this owner. The result is used only while its holder keeps
    /// the value, as by a pin; it is neither cloned nor dropped.
    #[inline]
    pub(crate) unsafe fn lent(owner: NonNull<Block<P>>) -> ManuallyDrop<Self> {
        ManuallyDrop::new(Self(owner))
    }

    /// Frees the shared data.
    ///
    /// # Safety
    /// The table is retired, and the caller was the last that kept it.
    #[cold]
    pub(crate) unsafe fn free(&self) {
        // SAFETY: made by `Box::leak`, and nobody has to do with it any more (contract).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }

    pub(crate) fn table(&self) -> &Table<P> {
        &self.shared().table
    }

    /// Pins the process `pid`, if it still has its slot.
    pub(crate) fn pin(&self, pid: Pid) -> Option<Pinned<P>> {
        // SAFETY: the table is a scheduler's, which the pin keeps.
        unsafe { self.table().pin(pid) }
    }

    /// Pins the live processes: see [`Table::iter`].
    pub(crate) fn pin_all(&self) -> impl Iterator<Item = Pinned<P>> {
        // SAFETY: as above.
        unsafe { self.table().iter() }
    }

    /// Returns a number that identifies this scheduler to timers while it exists.
    pub fn number(&self) -> usize {
        self.0.addr().get()
    }

    /// Returns the worker that the calling thread is now. After user code that blocks, ask again:
    /// it may come back on another worker.
    pub(crate) fn worker(&self) -> usize {
        let Some(worker) = self.shared().processors.current() else {
            unreachable!("tasks run on workers");
        };
        worker
    }

    /// Returns the process whose step, or whose end, the calling thread runs.
    pub(crate) fn current_process(&self) -> Option<Pid> {
        let label = self.shared().processors.current_label();
        label.and_then(|label| self.labelled(label))
    }

    /// Returns the process of the task with that label.
    pub(crate) fn labelled(&self, label: NonZeroU64) -> Option<Pid> {
        self.table().occupant(label.get() - 1)
    }

    /// Returns the counters of the [worker](Self::worker).
    pub(crate) fn counters(&self) -> &Counters {
        &self.shared().counters[self.worker()]
    }

    /// Checks if the process `pid` is of this scheduler and has not begun to end.
    pub fn lives(&self, pid: Pid) -> bool {
        self.table().lives(pid)
    }

    /// Checks if the calling thread is one of this scheduler's workers, which must not wait; or a
    /// guest that takes a step for one.
    pub fn is_worker(&self) -> bool {
        self.shared().processors.is_machine()
    }

    /// Returns the number of live processes: none whose end was told; after a shutdown, the stuck
    /// ones. Without a [limit](crate::Builder::limit) it is a guess while processes come and go.
    pub fn live(&self) -> usize {
        self.shared().admission.live()
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

/// The error of a call that waits for the scheduler's workers and came from one of them.
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

/// A value that a crate above keeps with a scheduler: a registry, for instance.
pub trait Extension: Any + Send + Sync {
    /// Forgets the data of processes that do not live, and tells each name that is left, if it
    /// keeps names. Called by reports.
    fn each_name(&self, _lives: &dyn Fn(Pid) -> bool, _tell: &mut dyn FnMut(Pid, &StdArc<str>)) {}
}

/// The extensions of a scheduler, one of each type, as a list to which they are added.
#[derive(Default)]
pub(crate) struct Extensions(OnceLock<(Box<dyn Extension>, Box<Self>)>);

impl Extensions {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Extension> {
        iter::successors(self.0.get(), |(_, others)| others.0.get()).map(|(first, _)| &**first)
    }
}

impl<P: Protocol> Handle<P> {
    /// Returns the extension of that type, made at the first call: until then blocking, afterwards
    /// wait-free. It is dropped behind the last handle, so it must keep none. A `T::default` must
    /// ask the same scheduler for no extension: it would wait for itself.
    pub fn extension<T: Extension + Default>(&self) -> &T {
        let mut all = &self.shared().extensions;
        loop {
            let new = || -> (Box<dyn Extension>, _) { (Box::<T>::default(), Box::default()) };
            let (first, others) = all.0.get_or_init(new);
            match <dyn Any>::downcast_ref(&**first) {
                Some(found) => return found,
                None => all = others,
            }
        }
    }
}
