//! A job, whatever its closure.

use std::any::Any;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::name::Name;
use crate::latch::Latch;

/// What a panic said.
pub(crate) type Payload = Box<dyn Any + Send>;

/// A job that was taken out of its queue, or has not been put into one yet. The thread that has
/// this has the job, and runs it once. One that is dropped never runs.
#[must_use = "a job that is dropped never runs"]
pub(crate) struct JobRef<W: 'static>(pub(super) NonNull<Job<W>>);

// SAFETY: a job is made of a closure and a result that may change threads (contract of `new`).
unsafe impl<W> Send for JobRef<W> {}

/// What a job is, whatever its closure. The first field of each job.
#[repr(C)]
pub(super) struct Job<W: 'static> {
    /// It holds the kind. Of a job on a stack, it is the latch.
    word: Latch,
    kind: PhantomData<&'static Kind<W>>,
}

/// What jobs of the same type have in common. Aligned to what a latch can hold.
#[repr(align(8))]
pub(super) struct Kind<W: 'static> {
    pub(super) name: Name,
    pub(super) run: unsafe fn(NonNull<Job<W>>, &W),
    /// The address of what counts the job, if it is one of a scope.
    pub(super) scope: unsafe fn(NonNull<Job<W>>) -> *const (),
}

impl<W> Job<W> {
    #[inline(always)]
    pub(super) fn new(kind: &'static Kind<W>) -> Self {
        Self {
            word: Latch::holding(ptr::from_ref(kind).expose_provenance() as u64),
            kind: PhantomData,
        }
    }

    /// Of a job on a stack.
    pub(super) fn latch(&self) -> &Latch {
        &self.word
    }

    /// Until it runs.
    fn kind(&self) -> &'static Kind<W> {
        let address = self.word.held() as usize;
        // SAFETY: `new` put it there, and it stays until a thief begins: the caller's.
        unsafe { &*ptr::with_exposed_provenance(address) }
    }

    /// For those that are of no scope.
    pub(super) fn without_scope(_: NonNull<Self>) -> *const () {
        ptr::null()
    }
}

impl<W> JobRef<W> {
    /// # Safety
    /// The job begins with that `Job`, with which the functions of its kind may be called, on any
    /// thread: `run` once, at any time from now on, and `scope` until then. No panic comes out of
    /// them.
    #[inline(always)]
    pub(super) unsafe fn new(job: NonNull<Job<W>>) -> Self {
        Self(job)
    }

    /// Runs the job on the calling thread. No panic comes out of it.
    pub(crate) fn run(self, worker: &W) {
        // SAFETY: once, as `self` is consumed and was made for one call (contract of `new`).
        unsafe { (self.kind().run)(self.0, worker) }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &'static Name {
        &self.kind().name
    }

    /// Whether it is a job of the scope that has its count there.
    pub(crate) fn is_of(&self, count: *const ()) -> bool {
        // SAFETY: the job has not run (contract of `new`).
        let own = unsafe { (self.kind().scope)(self.0) };
        !own.is_null() && own == count
    }

    fn kind(&self) -> &'static Kind<W> {
        // SAFETY: the job lies there until it has run (contract of `new`).
        unsafe { self.0.as_ref() }.kind()
    }
}
