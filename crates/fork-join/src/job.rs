//! Jobs: closures that wait to be run, in a frame of the thread that forked them, or in a box.
//!
//! Elsewhere a job is a [`JobRef`]: a value that is run once, and cannot be copied.

use std::any::Any;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
// std's in a model, too: it orders nothing.
use std::sync::atomic::{AtomicPtr, Ordering};

use filch_processors::ExternalTask;

use crate::current;
use crate::latch::Latch;
use crate::search::Found;
use crate::worker::Worker;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// A job that was taken out of its queue, or has not been put into one yet. The thread that has
/// this has the job, and runs it once. One that is dropped never runs.
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
    /// The address of the scope's count, if the job is one of a scope.
    pub(crate) scope: unsafe fn(NonNull<Job>) -> *const (),
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

    /// Returns null: the [`scope`](Kind::scope) of jobs of no scope.
    pub(crate) fn without_scope(_: NonNull<Self>) -> *const () {
        ptr::null()
    }
}

impl JobRef {
    /// # Safety
    /// The job begins with that `Job`, with which the functions of its kind may be called, on any
    /// thread: `run` once, at any time from now on, and `scope` until then. No panic comes out of
    /// them.
    #[inline(always)]
    pub(crate) unsafe fn new(job: NonNull<Job>) -> Self {
        Self(job)
    }

    /// Runs the job on the calling thread. No panic comes out of it.
    pub(crate) fn run(self, worker: &Worker) {
        // SAFETY: once, as `self` is consumed and was made for one call (contract of `new`).
        unsafe { (self.kind().run)(self.0, worker) }
    }

    /// The name of its closure.
    pub(crate) fn name(&self) -> &'static Name {
        &self.kind().name
    }

    /// Returns whether it is a job of the scope that has its count there.
    pub(crate) fn is_of(&self, count: *const ()) -> bool {
        // SAFETY: the job has not run (contract of `new`).
        let own = unsafe { (self.kind().scope)(self.0) };
        !own.is_null() && own == count
    }

    fn kind(&self) -> &'static Kind {
        // SAFETY: the job lies there until it has run (contract of `new`).
        let address = unsafe { self.0.as_ref() }.word.held() as usize;
        // SAFETY: `Job::new` put it there, and it stays until a thief begins: this has not run.
        unsafe { &*ptr::with_exposed_provenance(address) }
    }
}

impl Found {
    /// Turns the job into an external task, as a pool of processors has it.
    pub(crate) fn into_external_task(self) -> ExternalTask {
        /// # Safety
        /// It was a job, which the caller has, and calls this with once.
        unsafe fn run<const IS_ISOLATED: bool>(job: NonNull<()>) {
            // SAFETY: the caller's.
            let job = unsafe { JobRef::new(job.cast()) };
            current::with(|worker| match worker {
                Some(worker) => worker.run(Some(Found {
                    is_isolated: IS_ISOLATED,
                    ..Found::from(job)
                })),
                None => unreachable!("the thread that took the job has a worker"),
            });
        }

        let run = match self.is_isolated {
            true => run::<true>,
            false => run::<false>,
        };
        // SAFETY: an external task is run once, and so is the job, which may run on any thread at
        // any time (contract of `JobRef::new`).
        unsafe { ExternalTask::new(self.job.0.cast(), run) }
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
