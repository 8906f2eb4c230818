//! Jobs: closures that wait to be run, in a frame of the thread that forked them, or in a box.
//!
//! Elsewhere a job is a [`JobRef`]: a value that is run once, and cannot be copied.

use std::any::{Any, type_name};
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
// std's in a model, too: it orders nothing.
use std::sync::atomic::AtomicPtr;
use std::{mem, process};

use filch_deque::{Steal, Stealer};
use filch_processors::ExternalTask;
use filch_sync::atomic::{AtomicU64, Ordering};

use crate::current;
use crate::worker::Worker;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// A job that was taken out of its queue, or has not been put into one yet. The thread that has
/// this has the job, and runs it once. One that is dropped never runs.
///
/// The address of the job; or the next one, if that was forked in an isolated region. (One that was
/// spawned knows that itself.)
#[must_use = "a job that is dropped never runs"]
pub(crate) struct JobRef(NonNull<Job>);

// SAFETY: a job is made of a closure and a result that may change threads (contract of `new`).
unsafe impl Send for JobRef {}

/// The first field of each job, whatever its closure.
#[repr(C)]
pub(crate) struct Job {
    /// The kind; in a forked job, later the latch.
    word: Latch,
    kind: PhantomData<&'static Kind>,
}

/// The functions of all jobs of one type. Aligned to what a latch can hold.
#[repr(align(8))]
pub(crate) struct Kind {
    pub(crate) name: Name,
    pub(crate) run: unsafe fn(NonNull<Job>, &Worker),
}

impl Job {
    #[inline(always)]
    pub(crate) fn new(kind: &'static Kind) -> Self {
        Self {
            word: Latch::holding(ptr::from_ref(kind).expose_provenance() as u64),
            kind: PhantomData,
        }
    }

    /// Returns the latch of a forked job.
    pub(crate) fn latch(&self) -> &Latch {
        &self.word
    }
}

impl JobRef {
    /// # Safety
    /// The job begins with that `Job`, with which the function of its kind may be called, once, on
    /// any thread, at any time from now on. No panic comes out of it.
    #[inline(always)]
    pub(crate) unsafe fn new(job: NonNull<Job>) -> Self {
        Self(job)
    }

    /// Makes a job in a box, called as `N` is. One that is never run leaks.
    ///
    /// # Safety
    /// The closure may change threads, what it borrows lives until it has run, and no panic comes
    /// out of it.
    pub(crate) unsafe fn boxed<F: FnOnce(&Worker), N>(run: F) -> Self {
        let job = Box::new(BoxedJob::<F, N> {
            job: Job::new(&BoxedJob::<F, N>::KIND),
            run,
            name: PhantomData,
        });
        // SAFETY: the kind is that of this type, and the box is the job's. The rest is the
        // caller's.
        unsafe { Self::new(NonNull::from(Box::leak(job)).cast()) }
    }

    /// Makes a job that nobody waits for, called as `N` is. A panic is told to the host. One that
    /// is never run leaks.
    pub(crate) fn detached<N>(job: impl FnOnce(&Worker) + Send + 'static) -> Self {
        let run = |worker: &Worker| {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job(worker))) {
                worker.host.tell_panic(payload);
            }
        };
        // SAFETY: it may change threads, and borrows nothing.
        unsafe { Self::boxed::<_, N>(run) }
    }

    /// Pushes it into a deque of spawned jobs.
    pub(crate) fn push(self, spawned: &filch_deque::Worker<Entry>) {
        spawned.push(Entry(self.0));
    }

    /// Pops the newest of the jobs in that deque, which were spawned.
    #[inline]
    pub(crate) fn pop(spawned: &filch_deque::Worker<Entry>) -> Option<Self> {
        // A look spares most of what an empty deque costs.
        let entry = (!spawned.is_empty()).then(|| spawned.pop())?;
        // SAFETY: as in `steal_if`.
        entry.map(|entry| unsafe { Self::new(entry.0) })
    }

    /// Steals the oldest job in that deque, if `accept` says so of the index where it lies: see
    /// [`steal_if`](Stealer::steal_if).
    pub(crate) fn steal_if(
        deque: &Stealer<Entry>,
        accept: impl FnOnce(u32) -> bool,
    ) -> Steal<Self> {
        // SAFETY: the thief has the only entry of a job that lies there until that has run
        // (contract of `Entry::new`).
        deque
            .steal_if(accept)
            .map(|entry| unsafe { Self::new(entry.0) })
    }

    /// Marks the job as forked in an isolated region, if it was. Called once at most for each job.
    pub(crate) fn isolated_if(self, is_isolated: bool) -> Self {
        // SAFETY: a job has more than one byte, and this is its first.
        Self(unsafe { self.0.byte_add(usize::from(is_isolated)) })
    }

    /// Returns whether it was forked in an isolated region.
    pub(crate) fn is_isolated(&self) -> bool {
        self.0.addr().get() % 2 == 1
    }

    /// Runs the job on the calling thread. No panic comes out of it.
    pub(crate) fn run(self, worker: &Worker) {
        // SAFETY: once, as `self` is consumed and was made for one call (contract of `new`).
        unsafe { (self.kind().run)(self.job(), worker) }
    }

    /// The name of its closure.
    pub(crate) fn name(&self) -> &'static Name {
        &self.kind().name
    }

    fn job(&self) -> NonNull<Job> {
        // SAFETY: `isolated_if` has added as much.
        unsafe { self.0.byte_sub(usize::from(self.is_isolated())) }
    }

    fn kind(&self) -> &'static Kind {
        // SAFETY: the job lies there until it has run (contract of `new`).
        let address = unsafe { self.job().as_ref() }.word.held() as usize;
        // SAFETY: `Job::new` put it there, and it stays until a thief begins: this has not run.
        unsafe { &*ptr::with_exposed_provenance(address) }
    }

    /// Turns the job into an external task, as a pool of processors has it.
    pub(crate) fn into_external_task(self) -> ExternalTask {
        /// # Safety
        /// It was a job, which the caller has, and calls this with once.
        unsafe fn run(job: NonNull<()>) {
            let job = JobRef(job.cast());
            current::with(|worker| match worker {
                Some(worker) => worker.run(Some(job)),
                None => unreachable!("the thread that took the job has a worker"),
            });
        }

        // SAFETY: an external task is run once, and so is the job, which may run on any thread at
        // any time (contract of `new`).
        unsafe { ExternalTask::new(self.0.cast(), run) }
    }
}

/// A closure in a box.
#[repr(C)]
struct BoxedJob<F, N> {
    job: Job,
    run: F,
    name: PhantomData<N>,
}

impl<F: FnOnce(&Worker), N> BoxedJob<F, N> {
    const KIND: Kind = Kind {
        name: Name(type_name::<N>),
        run: Self::run,
    };

    /// # Safety
    /// It is the first field of such a job, and the caller has that.
    unsafe fn run(job: NonNull<Job>, worker: &Worker) {
        // SAFETY: `JobRef::boxed` made it of a box, and it is run once.
        let boxed = unsafe { *Box::from_raw(job.cast::<Self>().as_ptr()) };
        (boxed.run)(worker);
    }
}

/// The address of a job that lies in a deque. The thread that pops or steals it has the job; the
/// owner takes a fork back without reading it.
#[derive(Clone, Copy)]
pub(crate) struct Entry(NonNull<Job>);

// SAFETY: the thread that gets it has the job, which may change threads (contract of `JobRef`).
unsafe impl Send for Entry {}

impl Entry {
    /// # Safety
    /// A thread that pops it off a deque, or steals it, may make a [`JobRef`] of it.
    #[inline(always)]
    pub(crate) unsafe fn new(job: NonNull<Job>) -> Self {
        Self(job)
    }
}

/// The name of a closure: the function that it stands in (see [`std::any::type_name`]).
pub(crate) struct Name(pub(crate) fn() -> &'static str);

impl Name {
    pub(crate) fn get(&self) -> &'static str {
        (self.0)()
    }
}

/// A place for a name, which others read at any time.
#[derive(Debug, Default)]
pub(crate) struct NameCell(AtomicPtr<Name>);

impl NameCell {
    pub(crate) fn set(&self, name: &'static Name) {
        // ORDERING: Relaxed: the name is a constant of the program.
        self.0
            .store(ptr::from_ref(name).cast_mut(), Ordering::Relaxed);
    }

    /// Returns the last one, if there was one.
    pub(crate) fn get(&self) -> Option<&'static str> {
        // ORDERING: Relaxed: as in `set`.
        let name = NonNull::new(self.0.load(Ordering::Relaxed))?;
        // SAFETY: `set` stored it, and was given something static.
        Some(unsafe { name.as_ref() }.get())
    }
}

/// The job is done: its result is there.
const DONE: u64 = 1;
/// The job's owner sleeps until it is done.
const SLEEPS: u64 = 2;
/// The job's thief has begun, and has put down who it is in place of the held value.
const BEGUN: u64 = 4;
/// The first of 15 bits: the slot of the thief.
const THIEF: u32 = 3;
/// The first of 32 bits: where the thief's deque ended when it began.
const BASE: u32 = 32;

/// The highest number of slots, whose numbers have 15 bits.
pub(crate) const MAX_SLOTS: usize = (1 << 15) - 1;

/// A job, or several, that a worker waits for, while it does something else or sleeps.
pub trait Awaited {
    /// Returns whether the wait is over. Then what was done happened before this.
    fn is_done(&self) -> bool;

    /// The thread that runs what is awaited, if that is one job and known.
    fn thief(&self) -> Option<Thief>;

    /// Announces that the worker in that slot is about to sleep, to be woken when it is done.
    /// Returns `false` if it is done. May be called more than once.
    fn sleep(&self, slot: usize) -> bool;
}

/// The word between the owner of a stolen job and its thief. Nobody looks at it before the job is
/// stolen: the deque decides that. Until its thief begins, it holds what that has to read first: a
/// fork, which is seldom stolen, then stores one word for both.
#[derive(Debug)]
pub struct Latch(AtomicU64);

/// The thread that runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thief {
    /// The thief's slot.
    pub slot: usize,
    /// The end of its deque when it began: all before is older than the job; all behind descends
    /// from that, or from what the thief runs while it waits, or from a later job, once it is done.
    pub base: u32,
}

impl Latch {
    /// Makes the latch of a job that nobody has stolen. `held` is a multiple of 8.
    #[inline(always)]
    pub fn holding(held: u64) -> Self {
        Self(AtomicU64::new(held))
    }

    /// Returns what it holds until the thief begins. For whoever has the job.
    pub(crate) fn held(&self) -> u64 {
        // ORDERING: Relaxed: it came with the job. The owner may add that it sleeps.
        self.0.load(Ordering::Relaxed) & !(DONE | SLEEPS | BEGUN)
    }

    /// Notes that the thief begins.
    pub fn begin(&self, thief: Thief) {
        let word = BEGUN | (thief.slot as u64) << THIEF | u64::from(thief.base) << BASE;
        // ORDERING: Release, for the Acquire in `thief`: the slot, which may be new. An RMW, as the
        // owner may have gone to sleep already.
        self.0.fetch_xor(self.held() ^ word, Ordering::Release);
    }

    /// Notes that the thief has left its result, and returns whether the owner sleeps. The job may
    /// be gone when this returns, and with it the latch.
    #[must_use = "an owner that sleeps is to be woken"]
    pub fn finish(&self) -> bool {
        // ORDERING: Release, for the Acquire in `is_done`: the result. No Acquire: who the owner is
        // came with the job.
        self.0.swap(DONE, Ordering::Release) & SLEEPS != 0
    }
}

impl Awaited for Latch {
    #[inline]
    fn is_done(&self) -> bool {
        // ORDERING: Acquire, for the Release in `finish`, also through an RMW in `sleep`.
        self.0.load(Ordering::Acquire) & DONE != 0
    }

    /// Returns the thief, if it has begun and is not done.
    fn thief(&self) -> Option<Thief> {
        // ORDERING: Acquire, for the Release in `begin`: the slot.
        let word = self.0.load(Ordering::Acquire);
        (word & BEGUN != 0).then_some(Thief {
            slot: (word >> THIEF) as usize & MAX_SLOTS,
            base: (word >> BASE) as u32,
        })
    }

    /// Ignores the slot: the thief knows where the owner is.
    fn sleep(&self, _: usize) -> bool {
        // ORDERING: Relaxed: it says no more than this. `is_done` is asked before the result is
        // touched.
        self.0.fetch_or(SLEEPS, Ordering::Relaxed) & DONE == 0
    }
}

/// A frame in which something lies that other threads have. To leave it without [`end`](Self::end)
/// ends the program: they would run a job in a frame that is gone.
pub(crate) struct Lent;

impl Lent {
    /// Ends the loan of what is done by now.
    pub(crate) fn end(self, awaited: &impl Awaited) {
        if awaited.is_done() {
            mem::forget(self);
        }
    }
}

impl Drop for Lent {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // `eprintln` may panic, and leave the frame.
        _ = writeln!(
            io::stderr(),
            "a job was to be waited for, and was not: the program ends"
        );
        process::abort();
    }
}
