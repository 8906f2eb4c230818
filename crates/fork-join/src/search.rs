//! The search of a thread for jobs: where it looks, what it may take while it waits, how it gets at
//! what others keep to themselves; and the jobs as a pool of processors sees them.

use std::ptr;
use std::sync::Arc as StdArc;

use filch_deque::{Request, Stealer};
use filch_processors::{ExternalTask, Source};
use filch_sync::Arc;
use filch_sync::asymmetric::Refused;

use crate::current;
use crate::job::{Awaited, Entry, JobRef};
use crate::shared::{Host, Shared, WorkerSlot};
use crate::stack::is_since;
use crate::worker::Worker;

impl Worker {
    /// Finds a job that this worker has spawned, or must run itself; one that it or another worker
    /// has forked; or one from outside. If there is none, one that another worker keeps to itself.
    pub(crate) fn find(&self) -> Option<JobRef> {
        let common = &self.shared.common;
        let insist = || self.shared.insist(Some(self.slot));
        self.find_own()
            .or_else(|| self.steal())
            // A look spares most of what an empty queue costs.
            .or_else(|| (!common.is_empty()).then(|| common.pop())?)
            .or_else(|| insist().then(|| self.steal())?)
    }

    /// Finds a job that this worker has spawned, or one that is for this thread alone.
    #[inline(always)]
    pub(crate) fn find_own(&self) -> Option<JobRef> {
        JobRef::pop(&self.owner.spawned).or_else(|| {
            let slot = self.own_slot();
            slot.has_own().then(|| slot.take_own(|_| true))?
        })
    }

    /// Finds a job that was spawned here in the isolated region that the thread is in.
    pub(crate) fn find_isolated(&self) -> Option<JobRef> {
        let since = self.isolated_since.get()?;
        let job = (self.owner.spawned.position() > since).then(|| JobRef::pop(&self.owner.spawned));
        job.flatten()
    }

    /// Finds any job that may run on top of what this thread runs.
    pub(crate) fn find_allowed(&self) -> Option<JobRef> {
        match self.is_isolated() {
            true => self.find_isolated(),
            false => self.find(),
        }
    }

    /// Steals the oldest job of a worker that shares some. One of its own is stolen, too: it waits
    /// in a frame of this thread's, and that has something else to wait for now.
    fn steal(&self) -> Option<JobRef> {
        let count = self.shared.slot_count();
        let first = self.next_victim.get();
        for victim in (0..count).map(|step| (first + step) % count) {
            if victim == self.slot && self.forks().is_empty() {
                continue;
            }
            if let Some(job) = self.shared.slot(victim).steal() {
                self.next_victim.set(victim);
                return Some(job);
            }
        }
        self.next_victim.set(first + 1);
        None
    }

    /// Steals a job that descends from the one with that latch, from the deque of its thief; or
    /// from one that the thief has begun in a wait. In there lie such jobs as long as it runs; when
    /// it is done, others may come in their place.
    fn steal_back(&self, latch: &dyn Awaited) -> Option<JobRef> {
        let thief = latch.thief()?;
        let slot = self.shared.slot(thief.slot);
        let accept = |index| is_since(index, thief.base) && !latch.is_done();
        slot.steal_forked_if(accept)
    }

    /// Finds something that a wait for `awaited` may run. In an isolated region, a part of it:
    /// there the thief, too, begins nothing else.
    #[inline(never)]
    pub(crate) fn find_beside(&self, awaited: &dyn Awaited) -> Option<JobRef> {
        let share_of_broadcast = || {
            let (slot, count) = (self.own_slot(), ptr::from_ref(awaited).addr());
            let may_be = self.is_isolated() && slot.has_own();
            may_be.then(|| slot.take_own(|of| of == count))?
        };
        self.steal_back(awaited)
            .or_else(|| self.find_allowed())
            .or_else(share_of_broadcast)
    }
}

impl Shared {
    /// Returns whether there is a job in reach of any thread.
    fn has_shared(&self) -> bool {
        let mut deques = self.all_slots().flat_map(WorkerSlot::deques);
        !self.common.is_empty() || deques.any(|deque| deque.is_shared() && !deque.is_empty())
    }

    /// Returns whether a thread that looks for a job may find one. No more than a look.
    pub(crate) fn may_have_some(&self) -> bool {
        let mut deques = self.all_slots().flat_map(WorkerSlot::deques);
        self.has_shared() || deques.any(|deque| !deque.is_shared())
    }

    /// Returns whether another thread is to look, when the calling one has found a job in the place
    /// of those that sleep. If not, each deque is asked again: the answer to what a sleeper had
    /// asked may have gone to this thread, and the next push is to wake another.
    pub(crate) fn leaves_some(&self) -> bool {
        self.has_shared()
            || self.all_slots().any(|slot| slot.ask().count() > 0)
            || self.has_shared()
    }

    /// Returns whether there is a job that any thread could take: step 8 of the deque's
    /// ALGORITHM.md. A thread that sleeps after a `false` has left none behind: it has announced
    /// its sleep before, and asks all others but the one in its `own` slot, which keeps nothing to
    /// itself.
    pub(crate) fn has_work(&self, own: Option<usize>) -> bool {
        self.has_shared() || self.await_answers(self.others(own).flat_map(WorkerSlot::ask))
    }

    /// Makes threads share what they keep to themselves, for one that has found nothing. Returns
    /// whether another look is worth it.
    fn insist(&self, own: Option<usize>) -> bool {
        let keeps = |deque: &Stealer<_>| !deque.is_shared() && !deque.is_empty();
        let keeps_some = |slot: &&WorkerSlot| slot.deques().into_iter().any(keeps);
        let mut hidden = self.others(own).filter(keeps_some).peekable();
        hidden.peek().is_some() && self.await_answers(hidden.flat_map(WorkerSlot::ask))
    }

    /// Gives the owners of these deques the time in which one that is at work answers, and then
    /// goes without the answers of the others. Returns whether a job is in reach then, or may be
    /// later.
    fn await_answers<'a>(&'a self, requests: impl Iterator<Item = Request<'a, Entry>>) -> bool {
        let requests: Vec<_> = requests.collect();
        let awaited = Request::await_all(&requests, || self.has_shared());
        awaited == Err(Refused::ForNow) || self.has_shared()
    }

    fn others(&self, own: Option<usize>) -> impl Iterator<Item = &WorkerSlot> {
        let others = self.all_slots().enumerate();
        others.filter_map(move |(slot, other)| (Some(slot) != own).then_some(other))
    }
}

/// The jobs of a pool, as the source of a pool of processors.
pub(crate) struct Jobs {
    pub(crate) shared: Arc<Shared>,
    /// Kept here if nobody else keeps it as long as there are threads.
    pub(crate) host: Option<StdArc<dyn Host>>,
}

impl Jobs {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            host: None,
        }
    }
}

impl Source for Jobs {
    fn take(&self) -> Option<ExternalTask> {
        // A thread that never finds one takes no slot.
        if !current::has_worker() && !self.shared.may_have_some() {
            return None;
        }
        let find = |worker: &Worker| {
            let found = worker.find();
            if found.is_none() {
                // Others need not insist on what this thread does not have.
                worker.share();
            }
            found
        };
        let found = current::with_worker(&self.shared, find)??;
        Some(found.into_external_task())
    }

    fn is_empty(&self) -> bool {
        // The calling thread's own deque is asked, too: it may give its place to another thread,
        // and fork in the call that blocks.
        !self.shared.has_work(None)
    }

    fn may_have_some(&self) -> bool {
        self.shared.leaves_some()
    }

    fn nudged(&self) -> bool {
        let run = || current::with_worker(&self.shared, Worker::run_one_for_this_thread);
        current::has_worker() && run() == Some(true)
    }

    fn request_yield(&self) {
        self.shared.request_yield();
    }
}
