//! A closure, and then what came of it.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_sync::cell::UnsafeCell;

use crate::job::Payload;
use crate::worker::Worker;

/// The closure of a job that lies on its owner's stack, and the place of its result. It is dropped
/// with neither: they are taken out.
#[repr(C)]
pub(crate) struct Content<F, R> {
    closure: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> Content<F, R> {
    #[inline(always)]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// # Safety
    /// The job is the caller's alone, and this or [`run`](Self::run) is called once.
    #[inline(always)]
    pub(crate) unsafe fn take_closure(&self) -> F {
        // SAFETY: the caller's.
        self.closure
            .with_mut(|closure| unsafe { ManuallyDrop::take(&mut *closure) })
    }

    /// Calls the closure, and leaves what comes of it.
    ///
    /// # Safety
    /// As for [`take_closure`](Self::take_closure); and nobody looks at the result before this has
    /// returned.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, worker: &Worker)
    where
        F: FnOnce(&Worker) -> R,
    {
        // SAFETY: the caller's.
        let closure = unsafe { self.take_closure() };
        let result = catch_unwind(AssertUnwindSafe(|| closure(worker)));
        self.result.with_mut(|place| {
            // SAFETY: the caller's.
            unsafe { (*place).write(result) };
        });
    }

    /// # Safety
    /// [`run`](Self::run) has returned, before this, and the result is taken once.
    #[inline(always)]
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        // SAFETY: the caller's.
        self.result
            .with(|place| unsafe { (*place).assume_init_read() })
    }
}
