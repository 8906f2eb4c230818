//! The jobs on a thread's stack, each begun in the middle of the one before: how many may stand
//! there, which of them are isolated, and what others read of them when a pool hangs.

use std::io::{self, Write as _};
use std::{fmt, process};
// std's in a model, too: they order nothing.
use std::sync::atomic::{AtomicU8, AtomicU32};

use filch_sync::atomic::{AtomicU64, Ordering};

use crate::job::{JobRef, Name, NameCell};
use crate::shared::Shared;
use crate::worker::Worker;

/// The bytes that are left of a stack when it is full: enough to say so.
const KEPT_STACK: usize = 64 << 10;

impl Worker {
    /// Runs a job, if there is one, where nothing waits.
    pub(crate) fn run(&self, found: Option<JobRef>) -> bool {
        found.map(|job| self.begin(job)).is_some()
    }

    /// Runs a job in the middle of what this thread runs.
    #[inline(always)]
    pub(crate) fn run_on_top(&self, job: JobRef) {
        if self.is_stack_full() {
            self.run_out_of_stack(job.name());
        }
        self.begin(job);
    }

    /// Runs it. If as many jobs stand on this stack now as may, only parts of it come on top of it.
    fn begin(&self, job: JobRef) {
        let outer = self.nested.get();
        // In an isolated region it is a part of what the thread waits for. The parts of what is no
        // job, of a caller's own code, are one.
        let nested = (outer + u32::from(!self.is_isolated())).max(1);
        self.nested.set(nested);
        self.owner.stack.begin(job.name());
        match job.is_isolated() || nested >= self.shared.nested_jobs {
            true => self.isolate(|worker| job.run(worker)),
            false => job.run(self),
        }
        self.owner.stack.end();
        self.nested.set(outer);
    }

    /// Takes note of a stack of `bytes`, of which the calling thread has used little.
    pub(crate) fn has_stack(&self, bytes: usize) {
        let kept = (bytes / 8).min(KEPT_STACK);
        let floor = stack_pointer().saturating_sub(bytes - kept);
        self.stack_floor.set(floor);
    }

    #[inline]
    fn is_stack_full(&self) -> bool {
        // On another stack, to which the job has changed, this is far away from the floor.
        self.stack_floor.get().wrapping_sub(stack_pointer()) < KEPT_STACK
    }

    /// Ends the program, as a stack that overflows does, and says what to do about it.
    #[cold]
    #[inline(never)]
    fn run_out_of_stack(&self, begun: &Name) -> ! {
        // `eprintln` may panic, and go on.
        _ = writeln!(
            io::stderr(),
            "the stack of thread {} of a fork-join pool is full: {} jobs are on it, each in a wait \
             of the one below. The program ends. A larger `stack_size` has room for more of them, \
             and `Config::nested_jobs` lets fewer begin. The next one was {}",
            self.index(),
            self.nested.get(),
            begun.get(),
        );
        process::abort()
    }
}

/// The address down to which the calling thread has used its stack.
#[inline(never)] // the local is in no frame that stays
fn stack_pointer() -> usize {
    let local = 0_u8;
    (&raw const local).addr()
}

impl Worker {
    /// Runs `work` here and now. As long as it runs, this thread runs no job that is not part of
    /// it: where it waits, for a branch or the end of a scope, it runs what that has forked and
    /// spawned itself, or sleeps. The same holds for every thread that runs a part of it.
    ///
    /// For code that holds a lock, or has something borrowed, across a [`join`](Self::join): a job
    /// that wants the same is not begun on top of it, nor on top of a part of it. What it costs is
    /// that threads sleep beside work of others. (The last job that
    /// [may stand on a stack](crate::Config::nested_jobs) runs in such a region, too.)
    ///
    /// A scope that was opened outside is no part of it, nor is what `work` spawns into that, or
    /// without a scope. Another thread has to run it, or this one afterwards. A
    /// [broadcast](Self::broadcast) that is awaited in here may never end, if another thread waits
    /// for the lock. A job that a thread of another pool or of none spawns into a scope of `work`'s
    /// waits for a thread that is in no such region.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use filch_fork_join::Pool;
    ///
    /// let numbers = Mutex::new(vec![3, 1, 2]);
    /// let pool = Pool::new(2)?;
    /// pool.scope(|scope| {
    ///     for _ in 0..10 {
    ///         scope.spawn(|worker, _| {
    ///             worker.isolate(|worker| {
    ///                 let mut numbers = numbers.lock().unwrap();
    ///                 let (left, right) = numbers.split_at_mut(1);
    ///                 // None of the other jobs is run while this waits, with the lock in hand.
    ///                 worker.join(|_| left.sort(), |_| right.sort());
    ///             });
    ///         });
    ///     }
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `work` does.
    #[inline(never)] // not in the frame of each job that may be in a region
    pub fn isolate<R>(&self, work: impl FnOnce(&Self) -> R) -> R {
        /// Also if `work` unwinds.
        struct Leave<'worker> {
            worker: &'worker Worker,
            outer: Option<u64>,
        }

        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                // A job of a scope leaves nothing to a thread that may not come back to it.
                while self.worker.run(self.worker.find_isolated()) {}
                self.worker.isolated_since.set(self.outer);
                if self.outer.is_none() {
                    self.worker.own_slot().isolation.close();
                }
            }
        }

        let outer = self
            .isolated_since
            .replace(Some(self.owner.spawned.position()));
        if outer.is_none() {
            self.own_slot()
                .isolation
                .open(self.forks().position() as u32);
        }
        let _leave = Leave {
            worker: self,
            outer,
        };
        work(self)
    }

    /// Returns whether the thread is in such a region.
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated_since.get().is_some()
    }
}

/// The isolated region that the thread in a slot is in, if any, and the index of its deque where it
/// began. All that is forked from there on belongs to it, and it does not end before that has.
#[derive(Default)]
pub(crate) struct IsolationMark(AtomicU64);

/// The thread is in one. Below it is the index.
const OPEN: u64 = 1 << 32;

impl IsolationMark {
    pub(crate) fn open(&self, index: u32) {
        // ORDERING: Relaxed: released with the jobs that are forked in it.
        self.0.store(OPEN | u64::from(index), Ordering::Relaxed);
    }

    pub(crate) fn close(&self) {
        // ORDERING: Relaxed: no thief has a job of the region any more, and what it says of older
        // jobs is the same.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns whether the job that a thief took from that index of the deque belongs to it.
    pub(crate) fn has(&self, index: u32) -> bool {
        // ORDERING: Relaxed: if the job does, the region was open when it was pushed, and is open
        // until it has ended. If not, any region that is seen begins behind it.
        let word = self.0.load(Ordering::Relaxed);
        word & OPEN != 0 && is_since(index, word as u32)
    }
}

/// Returns whether an index of a deque is `base`, or lies behind it. Indices wrap.
pub(crate) fn is_since(index: u32, base: u32) -> bool {
    index.wrapping_sub(base) as i32 >= 0
}

/// The number of jobs that are kept by name, from the outermost on.
const NAMED: usize = 8;

/// The occupation of a thread of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It runs the innermost of its jobs.
    Runs,
    /// In the middle of a job it waits for another one, and looks for something to do meanwhile.
    Looks,
    /// In the middle of a job it sleeps until another one is done, or there is something to do.
    Sleeps,
    /// It is in a [`blocking`](crate::Worker::blocking) call.
    Blocks,
    /// It has no job: it looks for one or sleeps; or it is a [caller](crate::Config::with_caller),
    /// who does something else.
    Idle,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "runs",
            Self::Looks => "looks for work",
            Self::Sleeps => "sleeps",
            Self::Blocks => "blocks",
            Self::Idle => "has no job",
        })
    }
}

/// The jobs that a thread has begun and not ended, each in the middle of the one before, and what
/// it does in the innermost.
///
/// Written by the thread alone, and read word by word: a reader that comes in between sees some of
/// before and some of after.
#[derive(Debug, Default)]
pub(crate) struct JobStack {
    names: [NameCell; NAMED],
    /// The number of jobs on the stack.
    depth: AtomicU32,
    doing: AtomicU8,
}

impl JobStack {
    pub(crate) fn begin(&self, name: &'static Name) {
        let depth = self.depth();
        if let Some(place) = self.names.get(depth) {
            place.set(name);
        }
        self.set_depth(depth + 1);
    }

    pub(crate) fn end(&self) {
        self.set_depth(self.depth() - 1);
    }

    /// Says what the thread does from now on.
    pub(crate) fn set_doing(&self, doing: Doing) {
        // ORDERING: Relaxed: a report, by which nobody goes.
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Reports on the thread with that index.
    pub(crate) fn read(&self, index: usize) -> ThreadReport {
        let depth = self.depth();
        let names = self.names.iter().take(depth).filter_map(NameCell::get);
        ThreadReport {
            index,
            doing: match self.doing() {
                Doing::Runs if depth == 0 => Doing::Idle,
                doing => doing,
            },
            depth,
            jobs: names.collect(),
        }
    }

    fn depth(&self) -> usize {
        // ORDERING: Relaxed: the thread's own word. For others, a report, by which nobody goes.
        self.depth.load(Ordering::Relaxed) as usize
    }

    fn set_depth(&self, depth: usize) {
        // ORDERING: Relaxed: as in `depth`.
        self.depth.store(depth as u32, Ordering::Relaxed);
    }

    fn doing(&self) -> Doing {
        // ORDERING: Relaxed: as in `set_doing`.
        [Doing::Runs, Doing::Looks, Doing::Sleeps, Doing::Blocks]
            [usize::from(self.doing.load(Ordering::Relaxed))]
    }
}

/// The report on a thread of a pool: see [`Pool::report`](crate::Pool::report).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The [index](crate::Worker::index) of its worker.
    pub index: usize,
    /// The occupation of the thread in the innermost of its jobs.
    pub doing: Doing,
    /// The number of jobs on its stack.
    pub depth: usize,
    /// The jobs that stand on its stack, each begun while the one before waited: the outermost
    /// first, eight at most. A job is called as its closure is: after the function that this
    /// stands in.
    pub jobs: Vec<&'static str>,
}

impl fmt::Display for ThreadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} {}", self.index, self.doing)?;
        for (level, name) in self.jobs.iter().enumerate() {
            let place = if level == 0 {
                " in"
            } else {
                ", on top of which is"
            };
            write!(f, "{place} {name}")?;
        }
        match self.depth - self.jobs.len() {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl Shared {
    /// Reports on each thread that is registered.
    pub fn report(&self) -> Vec<ThreadReport> {
        let registered = (0..self.slot_count()).filter(|&index| self.is_registered(index));
        let report = registered.map(|index| self.slot(index).stack.read(index));
        report.collect()
    }
}
