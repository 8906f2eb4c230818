//! What a thread has while it runs jobs: its deque, and its seat among the others.

use std::cell::Cell;
use std::fmt;
use std::mem;

use filch_deque::Lazy;
use filch_parker::Spin;

use crate::job::{JobRef, Runs};
use crate::latch::{Awaited, Latch, Thief};
use crate::shared::{Owner, Shared};

use filch_sync::Arc;

/// The worker of the thread: [`join`](Self::join) and its kin without a look into thread-local
/// storage. Jobs are given it.
pub struct Worker {
    owner: Owner<Worker>,
    seat: usize,
    shared: Arc<Shared<Worker>>,
    /// Where it looks first for a victim.
    next_victim: Cell<usize>,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared<Worker>>, seat: usize, owner: Owner<Worker>) -> Self {
        Self {
            owner,
            seat,
            shared,
            next_victim: Cell::new(seat),
        }
    }

    #[inline(always)]
    pub(crate) fn deque(&self) -> &filch_deque::Worker<JobRef<Worker>, Lazy> {
        &self.owner.deque
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<Worker>> {
        &self.shared
    }

    pub(crate) fn seat(&self) -> usize {
        self.seat
    }

    /// Wakes somebody for what has become public, if something has.
    pub(crate) fn tell_published(&self) {
        if self.deque().has_published() {
            self.shared.wake_one();
        }
    }

    /// A job that this worker has spawned, one of another worker's, or one from outside.
    pub(crate) fn find(&self) -> Option<JobRef<Worker>> {
        let own = self.owner.spawned.pop();
        own.or_else(|| self.steal())
            .or_else(|| self.shared.common.pop())
    }

    /// Puts a job in reach of all, to be run by this thread if no other one takes it before.
    pub(crate) fn spawn_job(&self, job: JobRef<Worker>) {
        self.owner.spawned.push(job);
        self.shared.wake_one();
    }

    /// Whether it is one of that pool's.
    pub(crate) fn is_of(&self, shared: &Arc<Shared<Worker>>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    /// The oldest job of another worker's.
    fn steal(&self) -> Option<JobRef<Worker>> {
        let count = self.shared.seat_count();
        let first = self.next_victim.get();
        loop {
            let mut lost = false;
            for victim in (0..count).map(|step| (first + step) % count) {
                if victim == self.seat {
                    continue;
                }
                match self.shared.seat(victim).steal() {
                    filch_deque::Steal::Success(job) => {
                        self.next_victim.set(victim);
                        return Some(job);
                    }
                    filch_deque::Steal::Retry => lost = true,
                    filch_deque::Steal::Empty => {}
                }
            }
            if !lost {
                self.next_victim.set(first + 1);
                return None;
            }
            std::hint::spin_loop();
        }
    }

    /// A job that descends from the one with that latch, from the deque of its thief.
    fn steal_back(&self, latch: &(impl Awaited + ?Sized)) -> Option<JobRef<Worker>> {
        let thief = latch.thief()?;
        let stealer = &self.shared.seat(thief.seat).stealer;
        loop {
            match stealer.steal_from(thief.base) {
                filch_deque::Steal::Success(job) => return Some(job),
                filch_deque::Steal::Retry => std::hint::spin_loop(),
                filch_deque::Steal::Empty => return None,
            }
        }
    }

    /// A job was stolen: this thread does something else until it is done, or sleeps.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait(&self, latch: &(impl Awaited + ?Sized)) {
        let mut spinner = self.shared.patience.clone();
        // This thread was chosen to look for work, and has chosen nobody in its place yet.
        let mut is_chosen = false;
        while !latch.is_done() {
            if let Some(job) = self.steal_back(latch).or_else(|| self.find()) {
                if mem::take(&mut is_chosen) {
                    // There may be more of it.
                    self.shared.wake_one();
                }
                spinner.reset();
                // SAFETY: it was taken out of its queue.
                unsafe { job.run(self) };
                continue;
            }
            if spinner.spin() == Spin::Block {
                is_chosen |= self.sleep(latch);
                spinner.reset();
            }
        }
        if is_chosen {
            // It has no time for that now.
            self.shared.wake_one();
        }
    }

    /// Sleeps until the job is done, or there is something else to do. Whether it was chosen to
    /// look for work.
    fn sleep(&self, latch: &(impl Awaited + ?Sized)) -> bool {
        let sleepers = &self.shared.sleepers;
        let seat = self.shared.seat(self.seat);
        sleepers.announce(&seat.sleeps);
        // The last look: what was published before the fence in there is ours to see.
        if !self.shared.has_work() && latch.sleep(self.seat) {
            self.owner.parker.park();
        }
        !sleepers.withdraw(&seat.sleeps)
    }

    /// The thread exits.
    pub(crate) fn stand_up(self) {
        self.shared.stand_up(self.seat, self.owner);
    }
}

impl Runs for Worker {
    fn thief(&self) -> Thief {
        Thief {
            seat: self.seat,
            base: self.deque().position() as u32,
        }
    }

    fn finish(&self, latch: &Latch) {
        self.shared.finish(latch);
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("seat", &self.seat)
            .finish_non_exhaustive()
    }
}
