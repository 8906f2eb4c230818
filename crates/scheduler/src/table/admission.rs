//! The number of live processes, its limit, and the closing to new ones.

use std::num::NonZeroUsize;
use std::time::Instant;

use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::{CachePadded, Condvar, Mutex, lock, wait_until};

use crate::NotAdmitted;

/// A sharded count of the live processes, with a closed flag in each shard.
///
/// Without a limit each worker has a shard, and all other threads share one: a process may enter by
/// one shard and leave by another, and only the sum over all shards is the number of processes.
/// With a limit there is one shard for all, as the limit is exact.
#[derive(Debug)]
pub struct Admission {
    /// Each: twice the processes that entered here, less twice those that left here, wrapping; plus
    /// [`CLOSED`].
    shards: Box<[CachePadded<AtomicUsize>]>,
    /// Set when all shards are closed.
    closed: AtomicBool,
    limit: Option<NonZeroUsize>,
    // For a thread that waits until all have left: a slow path, and blocking by its nature.
    waiting: Mutex<()>,
    all_ended: Condvar,
}

const CLOSED: usize = 1;
const ONE: usize = 2;

impl Admission {
    /// Opens admission for that many workers, and for at most `limit` processes if given.
    pub fn new(limit: Option<NonZeroUsize>, workers: usize) -> Self {
        let shards = if limit.is_some() { 1 } else { 1 + workers };
        Self {
            shards: (0..shards).map(|_| CachePadded::default()).collect(),
            closed: AtomicBool::new(false),
            limit,
            waiting: Mutex::new(()),
            all_ended: Condvar::new(),
        }
    }

    /// Returns the shard of that worker, or the one of all threads that are not workers.
    fn shard(&self, worker: Option<usize>) -> &AtomicUsize {
        let own = worker.map_or(0, |worker| worker + 1);
        // With a limit there is but one.
        &self.shards[own.min(self.shards.len() - 1)]
    }

    /// Counts one more process, if there is room and the admission is open. `worker` is the number
    /// of the calling worker. Lock-free.
    ///
    /// # Errors
    /// [`NotAdmitted`], and nothing is counted.
    pub fn enter(&self, worker: Option<usize>) -> Result<(), NotAdmitted> {
        let shard = self.shard(worker);
        // ORDERING: Relaxed: the compare-exchange validates it.
        let mut word = shard.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Err(NotAdmitted::ShutDown);
            }
            if let Some(limit) = self.limit
                && word / ONE >= limit.get()
            {
                return Err(NotAdmitted::LimitReached(limit));
            }
            // ORDERING: Relaxed: the count carries no data; processes are handed over by the table.
            // A loop and not an addition: a caller that overshoots for a moment would make another
            // one find the limit reached, or keep the last one that leaves from noticing it.
            match shard.compare_exchange_weak(
                word,
                word.wrapping_add(ONE),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// Counts a process that has gone. Returns true if it was the last one and the admission is
    /// closed; several of the last few may get true. `worker` is the number of the calling worker.
    /// Wait-free, except for the last one.
    #[must_use]
    pub fn leave(&self, worker: Option<usize>) -> bool {
        // ORDERING: Release, partner of the Acquire in `live`: what the process did happens before
        // the return of `wait`.
        let before = self.shard(worker).fetch_sub(ONE, Ordering::Release);
        before & CLOSED != 0 && self.is_last()
    }

    /// Checks, after leaving by a closed shard, if no process is left.
    #[cold]
    fn is_last(&self) -> bool {
        // ORDERING: partner of itself, in other threads that leave, and of the fence in `close`: of
        // all that look, the last one to pass its fence sees what the others have written before
        // theirs. If not all shards are closed yet, the last one is the thread that closes them.
        fence(Ordering::SeqCst);
        let last = self.is_closed() && self.live() == 0;
        if last {
            // Under the lock: the waiter is either before its look at the count, or asleep.
            let _waiting = lock(&self.waiting);
            self.all_ended.notify_all();
        }
        last
    }

    /// Admits no process from now on. Returns true if none lives: then none will be the last to
    /// [`leave`](Self::leave). Wait-free.
    #[must_use]
    pub fn close(&self) -> bool {
        for shard in &self.shards {
            // ORDERING: Relaxed: released by the store below. A process that leaves by this shard
            // later sees the mark, and looks; one that left earlier is seen by a thread that sees
            // the mark.
            shard.fetch_or(CLOSED, Ordering::Relaxed);
        }
        // ORDERING: Release, partner of the Acquire in `is_closed`.
        self.closed.store(true, Ordering::Release);
        // ORDERING: partner of the fence in `is_last`.
        fence(Ordering::SeqCst);
        self.live() == 0
    }

    /// Checks if all shards are closed.
    ///
    /// The answer may be old. A submitter that asks after
    /// [`Table::occupy`](crate::table::table::Table::occupy) sees the closing of a thread whose
    /// later walk over the table does not find its process.
    #[inline]
    pub fn is_closed(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `close`: a thread that counts after this
        // sees every shard closed, and so all processes that ever entered. Without it, one might be
        // overlooked as it enters and seen as it leaves by another shard, and the count taken for
        // zero. Where the answer must not be old something stands before it: in `is_last` a fence,
        // in a submitter the RMW of `occupy`, which meets the one of the walk.
        self.closed.load(Ordering::Acquire)
    }

    /// Returns the number of live processes. A guess while some enter; once this [is
    /// closed](Self::is_closed), never less than there are.
    pub fn live(&self) -> usize {
        let sum = self.shards.iter().fold(0, |sum: usize, shard| {
            // ORDERING: Acquire: see `leave`.
            sum.wrapping_add(shard.load(Ordering::Acquire) & !CLOSED)
        });
        // A process that entered by a shard after its load here, and left by another one before its
        // load, makes the sum negative.
        usize::try_from(sum.cast_signed() / ONE.cast_signed()).unwrap_or(0)
    }

    /// Blocks until no process is left, or until the `deadline`, if there is one; returns true if
    /// none is left. The processes' acts happen before the return of `true`. Call it after
    /// [`close`](Self::close).
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut waiting = lock(&self.waiting);
        let mut over = false;
        while self.live() > 0 && !over {
            (waiting, over) = wait_until(&self.all_ended, &self.waiting, waiting, deadline);
        }
        self.live() == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
