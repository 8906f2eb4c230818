//! The state that the workers of a pool share: their slots, the common queue, and the sleepers.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
// std's in a model, too: it orders nothing.
use std::sync::{Arc as StdArc, Weak};

use filch_deque::{Request, Steal, Stealer};
use filch_injector::Injector;
use filch_parker::{AdaptiveSpinner, Parker, Unparker};
use filch_slab::Slab;
use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::{CachePadded, Mutex, lock, thread};

use crate::current::Seat;
use crate::job::{Entry, JobRef, Latch, MAX_SLOTS, Payload};
use crate::scope::InOrder;
use crate::stack::{IsolationMark, JobStack};

/// The slots of a deque at first. A fork deeper than that makes it grow.
const CAPACITY: usize = 64;

/// The part of a slot that only the thread in it has.
pub(crate) struct Owner {
    /// The jobs that it has forked: on its stack, in nested order.
    pub(crate) forks: filch_deque::Worker<Entry>,
    /// The jobs that it has spawned.
    pub(crate) spawned: filch_deque::Worker<Entry>,
    pub(crate) parker: Parker,
    /// The jobs on its stack.
    pub(crate) stack: StdArc<JobStack>,
}

/// Jobs for the thread in a slot, and for no other one.
#[derive(Default)]
struct OwnJobs {
    /// `true` if a thread is there that will run them.
    listens: bool,
    /// Each with the address of its scope's count, or 0.
    jobs: VecDeque<(JobRef, usize)>,
}

/// A place among the workers: what others see of the thread in it. It stays when the thread goes.
pub(crate) struct WorkerSlot {
    pub(crate) forks: Stealer<Entry>,
    pub(crate) spawned: Stealer<Entry>,
    pub(crate) unparker: Unparker,
    pub(crate) sleeps: CachePadded<AtomicBool>,
    /// `true` if its thread is to ask the host whether it should make way.
    pub(crate) yield_requested: CachePadded<AtomicBool>,
    /// Marks which of the jobs that it forks are isolated.
    pub(crate) isolation: IsolationMark,
    /// The jobs on its stack.
    pub(crate) stack: StdArc<JobStack>,
    /// Locked by a guest in its thread's place, and by the thread while it has no processor.
    pub(crate) seat: Mutex<Seat>,
    own: Mutex<OwnJobs>,
    /// `true` if some of these wait: a look at it spares the lock.
    has_own: AtomicBool,
    /// `Some` while no thread is in it.
    pub(crate) owner: Mutex<Option<Owner>>,
}

impl WorkerSlot {
    fn new(_: u32) -> Self {
        let owner = Owner {
            forks: filch_deque::Worker::biased(CAPACITY),
            spawned: filch_deque::Worker::biased(CAPACITY),
            parker: Parker::new(),
            stack: StdArc::default(),
        };
        Self {
            forks: owner.forks.stealer(),
            spawned: owner.spawned.stealer(),
            unparker: owner.parker.unparker(),
            sleeps: CachePadded::new(AtomicBool::new(false)),
            yield_requested: CachePadded::new(AtomicBool::new(false)),
            isolation: IsolationMark::default(),
            stack: StdArc::clone(&owner.stack),
            seat: Mutex::default(),
            own: Mutex::default(),
            has_own: AtomicBool::new(false),
            owner: Mutex::new(Some(owner)),
        }
    }

    /// Steals the oldest job that its thread has forked, if `accept` says so of the index where it
    /// lies (see [`Stealer::steal_if`]).
    pub(crate) fn steal_forked_if(&self, accept: impl Fn(u32) -> bool) -> Option<JobRef> {
        let index = Cell::new(0);
        let job = insist(|| {
            JobRef::steal_if(&self.forks, |at| {
                index.set(at);
                accept(at)
            })
        })?;
        Some(job.isolated_if(self.isolation.has(index.get())))
    }

    /// Steals the oldest job of its thread's: forked, or else spawned.
    pub(crate) fn steal(&self) -> Option<JobRef> {
        let spawned = || insist(|| JobRef::steal_if(&self.spawned, |_| true));
        self.steal_forked_if(|_| true).or_else(spawned)
    }

    /// Returns whether jobs for its thread alone may wait.
    pub(crate) fn has_own(&self) -> bool {
        // ORDERING: Relaxed: the lock hands the jobs over. A thread that misses one is woken after
        // that was put in, and looks again: partner, `Parker::park`.
        self.has_own.load(Ordering::Relaxed)
    }

    /// Takes the oldest job for its thread alone that has a count of which `accept` says so.
    #[cold]
    pub(crate) fn take_own(&self, accept: impl Fn(usize) -> bool) -> Option<JobRef> {
        let jobs = &mut lock(&self.own).jobs;
        let first = jobs.iter().position(|&(_, count)| accept(count))?;
        let taken = jobs.remove(first);
        // ORDERING: Relaxed: as in `has_own`.
        self.has_own.store(!jobs.is_empty(), Ordering::Relaxed);
        taken.map(|(job, _)| job)
    }

    /// Returns the deques in which its thread may keep jobs to itself.
    pub(crate) fn deques(&self) -> [&Stealer<Entry>; 2] {
        [&self.forks, &self.spawned]
    }

    /// Makes its thread tell another one of what it forks or spawns next, or do what it is told to.
    /// Yields what the thread has yet to answer.
    pub(crate) fn ask(&self) -> impl Iterator<Item = Request<'_, Entry>> {
        self.deques().into_iter().filter_map(Stealer::ask)
    }
}

/// Repeats an attempt that lost a race: only "there is none" counts.
fn insist<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    let mut lost = 0..4;
    loop {
        match attempt() {
            Steal::Success(taken) => return Some(taken),
            Steal::Empty => return None,
            // Then perhaps an owner that replaces its ring was preempted, and needs this core.
            Steal::Retry => lost.next().map_or_else(thread::yield_now, drop),
        }
    }
}

/// The state that the workers of a pool share.
pub struct Shared {
    pub(crate) slots: Slab<WorkerSlot>,
    /// Jobs from threads that have no slot.
    pub(crate) common: Injector<JobRef>,
    /// Jobs that were spawned in order, outside of scopes.
    pub(crate) in_order: InOrder,
    pub(crate) sleepers: Sleepers,
    /// Kept by the pool and by each thread that is registered: from here it would be a circle.
    pub(crate) host: Weak<dyn Host>,
    /// The time that a joiner that finds nothing looks on before it sleeps.
    pub(crate) patience: AdaptiveSpinner,
    /// The largest number of jobs on a stack that are no parts of one another.
    pub(crate) nested_jobs: u32,
}

/// The threads that run jobs.
pub trait Host: Send + Sync {
    /// Wakes a thread that has nothing to do, if there is one: something was published, and each
    /// thread that has gone to sleep without having seen it is known to the caller, by a `SeqCst`
    /// fence since, or by what that thread has asked for.
    fn notify(&self);

    /// Makes each thread that waits look for jobs of its own.
    fn nudge_threads(&self);

    /// Runs a call that blocks, and lets other jobs run meanwhile.
    fn block(&self, call: &mut dyn FnMut());

    /// Makes the calling thread sleep, in the middle of a job, until there is something to do.
    fn rest(&self, sleep: &mut dyn FnMut()) {
        sleep();
    }

    /// Lets others run that have waited for long, if there are such.
    fn yield_if_requested(&self) {}

    /// Returns whether perhaps no thread comes for what is published from outside, because the
    /// threads are about to exit. A thread that has published something, and hears `false`, can
    /// rely on it that one comes.
    fn is_ending(&self) -> bool {
        false
    }

    /// Tells the panic of a job that nobody waits for.
    fn tell_panic(&self, payload: Payload);
}

impl Shared {
    /// Makes a pool in which nobody is registered. At most `nested_jobs` that are no parts of one
    /// another stand on a stack.
    pub fn new(host: Weak<dyn Host>, patience: AdaptiveSpinner, nested_jobs: u32) -> Self {
        Self {
            slots: Slab::with_limit(WorkerSlot::new, MAX_SLOTS as u32),
            common: Injector::new(),
            in_order: InOrder::new(),
            sleepers: Sleepers::default(),
            host,
            patience,
            nested_jobs,
        }
    }

    /// Returns the number of slots, taken or not.
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.high_water() as usize
    }

    /// One of the slots that there are.
    pub(crate) fn slot(&self, slot: usize) -> &WorkerSlot {
        match self.slots.get(slot as u32) {
            Some(slot) => slot,
            None => unreachable!("slots stay"),
        }
    }

    /// All of them.
    pub(crate) fn all_slots(&self) -> impl Iterator<Item = &WorkerSlot> {
        (0..self.slot_count()).map(|slot| self.slot(slot))
    }

    /// Reserves a slot, if one is left: what every thread is told, its thread is told already.
    pub(crate) fn reserve(&self) -> Option<usize> {
        let slot = self.slots.allocate().ok()? as usize;
        lock(&self.slot(slot).own).listens = true;
        Some(slot)
    }

    /// Returns whether a thread is registered in that slot.
    pub(crate) fn is_registered(&self, slot: usize) -> bool {
        lock(&self.slot(slot).owner).is_none()
    }

    /// Ends the listening of the thread in that slot, if no job is for it alone; returns whether.
    pub(crate) fn try_stop_listening(&self, slot: usize) -> bool {
        let own = &mut *lock(&self.slot(slot).own);
        own.listens = !own.jobs.is_empty();
        !own.listens
    }

    /// Makes every registered thread run a job that `make` makes for it, of the scope that has its
    /// count there, or 0.
    pub(crate) fn tell_all(&self, count: usize, mut make: impl FnMut() -> JobRef) {
        for slot in self.all_slots() {
            let own = &mut *lock(&slot.own);
            if own.listens {
                own.jobs.push_back((make(), count));
                // ORDERING: Relaxed: as in `has_own`.
                slot.has_own.store(true, Ordering::Relaxed);
            }
        }
        // Those that wait in the middle of a job, and those that have nothing to do.
        (0..self.slot_count()).for_each(|slot| self.wake(slot));
        if let Some(host) = self.host.upgrade() {
            host.nudge_threads();
        }
    }

    /// Marks the job done, and wakes its owner, if that sleeps. The job may be gone on return.
    pub fn finish(&self, latch: &Latch, owner: usize) {
        if latch.finish() {
            self.wake(owner);
        }
    }

    /// Wakes the worker that waits in that slot.
    pub(crate) fn wake(&self, slot: usize) {
        self.slot(slot).unparker.unpark();
    }

    /// Wakes a thread to look for what was published: one that waits in the middle of a job, or one
    /// that has nothing to do.
    pub(crate) fn wake_one(&self, host: &dyn Host) {
        // ORDERING: SeqCst, partner of those of a thread that is about to sleep: in
        // `Sleepers::announce`, or in the host.
        fence(Ordering::SeqCst);
        self.wake_one_known(host);
    }

    /// Wakes a thread for what has been shared of a biased deque: the caller knows each thread that
    /// sleeps, and had not seen it (see [`Stealer::ask`]). Also one that had not seen the deque:
    /// slots are counted by exchanges of one word, of which the caller's came second.
    pub(crate) fn wake_one_known(&self, host: &dyn Host) {
        let flags = || self.all_slots().map(|slot| &*slot.sleeps);
        match self.sleepers.choose(flags) {
            Some(slot) => self.wake(slot),
            None => host.notify(),
        }
    }

    /// Tells each thread that runs jobs to ask the host, at its next fork or join, whether it
    /// should make way.
    pub(crate) fn request_yield(&self) {
        for slot in self.all_slots() {
            // ORDERING: Relaxed: a request, which is repeated.
            slot.yield_requested.store(true, Ordering::Relaxed);
            slot.ask().for_each(drop);
        }
    }

    /// Returns whether the threads are about to exit: see [`Host::is_ending`].
    pub(crate) fn is_ending(&self) -> bool {
        self.host.upgrade().is_some_and(|host| host.is_ending())
    }

    /// Queues a job from a thread without a slot.
    pub(crate) fn inject(&self, job: JobRef) {
        self.common.push(job);
        // Without a host there is no thread.
        if let Some(host) = self.host.upgrade() {
            self.wake_one(&*host);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("sleepers", &self.sleepers)
            .finish_non_exhaustive()
    }
}

/// The number of workers that sleep in the middle of a job, because a branch of theirs was stolen
/// and takes long. Each raises a flag, which the thread that wakes it for work takes down.
///
/// The count is never less than the number of flags that are up: it is raised before a flag, and
/// lowered after it.
#[derive(Debug, Default)]
pub struct Sleepers(AtomicUsize);

impl Sleepers {
    /// Announces that the thread with that flag is about to sleep. After this it sees all that was
    /// published before a fence and a [`choose`](Self::choose) that did not see it.
    pub fn announce(&self, flag: &AtomicBool) {
        // ORDERING: Relaxed: by the fence.
        self.0.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Release, for the Acquire in `withdraw`: the count goes up before it goes down,
        // so that it does not tell of one sleeper less in between. (loom cannot show it: its RMWs
        // take effect in program order. The kernel `sleepers-count` shows it.)
        flag.swap(true, Ordering::Release);
        // ORDERING: SeqCst, partner of the fence before `choose`: one of the two sees the other.
        fence(Ordering::SeqCst);
    }

    /// Chooses one of the threads with these flags to look for what was published. The flags are
    /// asked for when that is there to see.
    ///
    /// The caller has passed a `SeqCst` fence since; or each thread that is about to sleep, and
    /// does not see it, has made itself known by asking for it.
    pub fn choose<'flag, Flags>(&self, flags: impl FnOnce() -> Flags) -> Option<usize>
    where
        Flags: Iterator<Item = &'flag AtomicBool>,
    {
        // ORDERING: Relaxed: by the caller's fence, or what stands in its place.
        if self.0.load(Ordering::Relaxed) == 0 {
            return None;
        }
        flags().position(|flag| self.withdraw(flag))
    }

    /// Ends the announced sleep. `false`: it was chosen to look for work meanwhile.
    #[must_use = "one that was chosen is to look for work, or to choose another"]
    pub fn withdraw(&self, flag: &AtomicBool) -> bool {
        // ORDERING: Relaxed: a look that spares the line. In `choose`, as there.
        if !flag.load(Ordering::Relaxed) {
            return false;
        }
        // ORDERING: Acquire, for the Release in `announce`: needed by the letter of C++20, as no
        // processor subtracts early (loom cannot show it). An exchange: one thread takes it down.
        let taken = flag.swap(false, Ordering::Acquire);
        if taken {
            // ORDERING: Relaxed: after the addition, by the exchange.
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }
}
