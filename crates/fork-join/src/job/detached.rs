//! Jobs in boxes, which nobody waits for.

use std::marker::PhantomData;
use std::ptr;

use super::heap::{Boxed, HeapJob};
use super::job_ref::JobRef;

/// To be put into a queue, and called as `N` is. A panic is the closure's business. One that is
/// never run leaks.
pub(crate) fn detached<W: 'static, N>(closure: impl FnOnce(&W) + Send + 'static) -> JobRef<W> {
    struct Detached<F, N>(F, PhantomData<N>);

    impl<W, F: FnOnce(&W), N> Boxed<W> for Detached<F, N> {
        type Named = N;

        fn run(self, worker: &W) {
            (self.0)(worker);
        }

        fn scope(&self) -> *const () {
            ptr::null()
        }
    }

    // SAFETY: it may change threads, and borrows nothing.
    unsafe { HeapJob::boxed(Detached(closure, PhantomData::<N>)) }
}
