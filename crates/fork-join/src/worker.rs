//! The worker of a thread that runs jobs: its deque, and its slot among the others.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc as StdArc;

use filch_parker::Spin;
use filch_sync::atomic::Ordering;
use filch_sync::{Arc, lock};

use crate::job::{Awaited, Entry, JobRef, Thief};
use crate::shared::{Host, Owner, Shared, WorkerSlot};
use crate::stack::Doing;

/// The worker of the thread: [`join`](Self::join) and its kin without a look into thread-local
/// storage. Jobs are given it.
pub struct Worker {
    pub(crate) owner: Owner,
    /// The slot in which it is registered.
    pub(crate) slot: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) host: StdArc<dyn Host>,
    /// The slot where it looks first for a victim.
    pub(crate) next_victim: Cell<usize>,
    /// In an [isolated](Self::isolate) region: the position in `spawned` from which on all jobs
    /// were spawned in it.
    pub(crate) isolated_since: Cell<Option<u64>>,
    /// The number of jobs on its stack that are no parts of one another.
    pub(crate) nested: Cell<u32>,
    /// The address below which its stack is full, or 0, if that is not known.
    pub(crate) stack_floor: Cell<usize>,
}

impl Worker {
    /// Registers the calling thread: in a slot that is reserved for it, or in any. `None`: there is
    /// none left, or the pool is gone.
    pub(crate) fn register(shared: &Arc<Shared>, reserved: Option<usize>) -> Option<Self> {
        let host = shared.host.upgrade()?;
        let slot = reserved.or_else(|| shared.reserve())?;
        Some(Self {
            owner: lock(&shared.slot(slot).owner).take()?,
            slot,
            shared: Arc::clone(shared),
            host,
            next_victim: Cell::new(slot),
            isolated_since: Cell::new(None),
            nested: Cell::new(0),
            stack_floor: Cell::new(0),
        })
    }

    /// Leaves the slot, as the thread exits. It leaves nothing in its deques.
    pub(crate) fn unregister(self) {
        let slot = self.shared.slot(self.slot);
        *lock(&slot.seat) = Default::default();
        *lock(&slot.owner) = Some(self.owner);
        self.shared.slots.release(self.slot as u32);
    }

    /// Returns the part of this worker that others see.
    pub(crate) fn own_slot(&self) -> &WorkerSlot {
        self.shared.slot(self.slot)
    }

    /// Returns the deque of what it has forked: `join` alone puts a job in, and takes it back or
    /// waits for its thief before it returns.
    #[inline(always)]
    pub(crate) fn forks(&self) -> &filch_deque::Worker<Entry> {
        &self.owner.forks
    }

    /// Returns the thread as the thief of a job that it is about to run.
    pub(crate) fn as_thief(&self) -> Thief {
        Thief {
            slot: self.slot,
            base: self.forks().position() as u32,
        }
    }

    /// The number of its thread among those of the pool, from 0 on. No two have the same at a time.
    #[doc(alias = "current_thread_index")]
    pub fn index(&self) -> usize {
        self.slot
    }

    /// Returns the most threads that the pool has had at a time, above each [index](Self::index).
    #[doc(alias = "current_num_threads")]
    pub fn threads(&self) -> usize {
        self.shared.slot_count()
    }

    /// Shows others what it has forked or spawned: this thread does not come back to it soon.
    pub(crate) fn share(&self) {
        self.forks().share();
        self.owner.spawned.share();
        self.answer();
    }

    /// Wakes a thread for what is in reach of thieves, if one has asked.
    #[inline]
    pub(crate) fn answer(&self) {
        if self.forks().was_asked() | self.owner.spawned.was_asked() {
            self.tell_asked();
        }
    }

    /// Answers a thread that has asked for a job, and perhaps sleeps; or has something else to say.
    #[cold]
    #[inline(never)]
    fn tell_asked(&self) {
        match self.has_jobs() {
            true => self.shared.wake_one_known(&*self.host),
            // The thread has taken the job before it was told, and may have asked again and gone to
            // sleep before the answer, which took that down: the next push is to tell it.
            false => self.own_slot().ask().for_each(drop),
        }
        self.yield_if_requested();
    }

    /// Shares jobs and yields, if another thread has asked for it.
    fn yield_if_requested(&self) {
        // ORDERING: Relaxed: a request, which is repeated.
        if self.own_slot().yield_requested.load(Ordering::Relaxed) {
            self.share_and_yield();
        }
    }

    #[cold]
    #[inline(never)]
    fn share_and_yield(&self) {
        // ORDERING: Relaxed: as above.
        (self.own_slot().yield_requested).store(false, Ordering::Relaxed);
        // Others may go on with it meanwhile.
        self.share();
        self.shared.wake_one(&*self.host);
        self.host.yield_if_requested();
    }

    /// Runs a job for this thread alone, if there may be any, before the thread waits; and before
    /// it what the thread has spawned, for which another thread may come too late. Returns whether
    /// there was one. Waits for a guest in its place, as it has nothing else to do: nobody grants
    /// it a processor before that one is gone.
    #[inline(never)]
    pub(crate) fn run_one_for_this_thread(&self) -> bool {
        let slot = self.own_slot();
        slot.has_own() && {
            let _seat = lock(&slot.seat);
            self.run(self.find_own())
        }
    }

    /// Runs, as the thread exits, what only it will run, and what it has spawned, which others
    /// might not come for.
    pub(crate) fn run_the_rest(&self) {
        while self.run(JobRef::pop(&self.owner.spawned)) {}
        self.stop_listening();
    }

    /// Runs the jobs that are for this thread alone, and there will be no more.
    pub(crate) fn stop_listening(&self) {
        while !self.shared.try_stop_listening(self.slot) {
            self.run(self.own_slot().take_own(|_| true));
        }
    }

    /// Puts a job in reach of all, to be run by this thread if no other one takes it before. One
    /// that is no part of an isolated region is not to be found by this thread while it is in one.
    pub(crate) fn spawn_job(&self, job: JobRef, is_isolated: bool) {
        if self.is_isolated() && !is_isolated {
            return self.shared.inject(job);
        }
        job.push(&self.owner.spawned);
        self.answer();
    }

    /// Returns whether it is one of that pool's.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        ptr::eq(&raw const *self.shared, shared)
    }

    /// Does something else, or sleeps, until a stolen job is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for(&self, latch: &dyn Awaited) {
        // The frame of the search is gone when a job runs: a stack holds many waits.
        while !latch.is_done() {
            let found = self.find_beside(latch);
            if let Some(found) = found.or_else(|| self.look_beside(latch)) {
                self.run_on_top(found);
                self.yield_if_requested();
            }
        }
    }

    /// Shares its jobs, looks for something to do, and sleeps, until the job is done. Returns what
    /// it has found before that.
    #[inline(never)]
    fn look_beside(&self, latch: &dyn Awaited) -> Option<JobRef> {
        self.share();
        let stack = &self.owner.stack;
        let mut spinner = self.shared.patience.clone();
        // This thread was chosen to look for work, and has chosen nobody in its place yet.
        let mut is_chosen = false;
        let mut found = None;
        while found.is_none() && !latch.is_done() {
            stack.set_doing(Doing::Looks);
            found = self.find_beside(latch);
            if found.is_none() && spinner.spin() == Spin::Block {
                stack.set_doing(Doing::Sleeps);
                is_chosen |= self.sleep(latch);
                spinner.reset();
            }
        }
        stack.set_doing(Doing::Runs);
        if is_chosen {
            // There may be more of it, or this thread has no time for it now.
            self.shared.wake_one(&*self.host);
        }
        found
    }

    /// Sleeps until the job is done, or there is something else to do. Returns whether it was
    /// chosen to look for work.
    fn sleep(&self, latch: &dyn Awaited) -> bool {
        if self.is_isolated() {
            // It can do nothing for others.
            if latch.sleep(self.slot) {
                self.rest();
            }
            return false;
        }
        let sleepers = &self.shared.sleepers;
        let slot = self.own_slot();
        // The jobs that it has run since it began to wait may have taken its deque back.
        self.share();
        sleepers.announce(&slot.sleeps);
        // The last look: what was published before the fence in there is ours to see. (After a job
        // for this thread alone comes an unpark.)
        if !self.shared.has_work(Some(self.slot)) && latch.sleep(self.slot) {
            self.rest();
        }
        !sleepers.withdraw(&slot.sleeps)
    }

    /// Sleeps until it is woken. What the host has to run beside jobs may run meanwhile.
    fn rest(&self) {
        self.host.rest(&mut || self.owner.parker.park());
    }

    /// Runs `call`, which may block: other jobs go on meanwhile on another thread, if
    /// [there may be one](crate::Config::blocking_threads). See
    /// [`Processors::blocking`](filch_processors::Processors::blocking) for how, and what it costs.
    ///
    /// # Panics
    /// If `call` does.
    #[doc(alias = "block_in_place")]
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        // It spares a thief the heavy fence. A fork in the call is told of all the same: the thread
        // that takes this one's place asks this deque, too, before it sleeps.
        self.share();
        let (mut call, mut result) = (Some(call), None);
        self.owner.stack.set_doing(Doing::Blocks);
        self.host.block(&mut || {
            if let Some(call) = call.take() {
                result = Some(call());
            }
        });
        self.owner.stack.set_doing(Doing::Runs);
        match result {
            Some(result) => result,
            None => unreachable!("it is called, or panics"),
        }
    }

    /// Runs a waiting job: of this worker's, another's, or from outside; returns whether there was
    /// one. For a thread that waits for something else than a job, and asks again and again.
    pub fn yield_now(&self) -> bool {
        self.share();
        let found = self.find_allowed();
        found.map(|found| self.run_on_top(found)).is_some()
    }

    /// Runs a job as [`yield_now`](Self::yield_now) does, but leaves others' jobs alone.
    pub fn yield_local(&self) -> bool {
        self.share();
        let own = match self.is_isolated() {
            true => self.find_isolated(),
            false => self.find_own().or_else(|| self.own_slot().steal()),
        };
        own.map(|found| self.run_on_top(found)).is_some()
    }

    /// Returns whether jobs of this worker's wait: forked and not begun, or spawned.
    pub fn has_jobs(&self) -> bool {
        let slot = self.own_slot();
        !(self.forks().is_empty() && self.owner.spawned.is_empty() && !slot.has_own())
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}
