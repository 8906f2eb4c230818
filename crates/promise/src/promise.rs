//! The promise: a value and a waker that change hands by one word. The README draws its states.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};
use filch_sync::cell::UnsafeCell;

/// Nobody waits yet.
const EMPTY: u32 = 0;
/// A waker is in its cell.
const WAITING: u32 = 1;
/// The value is in its cell, or was.
const DONE: u32 = 2;

/// | field | who touches it |
/// |---|---|
/// | `state` | both ends: it decides who may touch the others |
/// | `value` | the resolver, or what it has [prepared](DeferredWake), before the swap to `DONE`; the future after it has seen `DONE` |
/// | `waker` | the future while the state is `EMPTY`; the resolver once its swap has found `WAITING` |
struct Promise<T> {
    state: AtomicU32,
    value: UnsafeCell<Option<T>>,
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: the two cells are handed from end to end as the table says; what they hold is Send.
unsafe impl<T: Send> Send for Promise<T> {}
// SAFETY: as above; no `&T` and no `&Waker` is ever shared.
unsafe impl<T: Send> Sync for Promise<T> {}

/// The two ends of a promise.
#[doc(alias = "oneshot")]
pub fn promise<T>() -> (Resolver<T>, Promised<T>) {
    let promise = Arc::new(Promise {
        state: AtomicU32::new(EMPTY),
        value: UnsafeCell::new(None),
        waker: UnsafeCell::new(None),
    });
    let resolver = Resolver {
        promise: Arc::clone(&promise),
    };
    (resolver, Promised { promise })
}

/// The end that gives the value. If it is dropped without giving one, the other end waits for ever.
#[must_use = "the other end waits for ever"]
#[doc(alias = "oneshot")]
pub struct Resolver<T> {
    promise: Arc<Promise<T>>,
}

impl<T> Promise<T> {
    /// Puts the value into its cell.
    ///
    /// # Safety
    /// The caller has the resolver, and the state is not DONE.
    unsafe fn put(&self, value: T) {
        // SAFETY: until the state is DONE the value's cell is the resolver's, which the caller has.
        let nothing = self
            .value
            .with_mut(|cell| unsafe { (*cell).replace(value) });
        debug_assert!(nothing.is_none(), "resolved twice");
    }

    /// Gives the value that is in its cell.
    ///
    /// # Safety
    /// The caller has the resolver, has put the value there, and gives the resolver up.
    unsafe fn give(&self) {
        // ORDERING: Release, partner of the Acquire in `poll` and `is_resolved`: they see the
        // value. Acquire, partner of the Release with which `poll` made it WAITING: the waker is
        // seen. A swap and not a store: the old state decides which end the waker's cell
        // belongs to.
        if self.state.swap(DONE, Ordering::AcqRel) == WAITING {
            // SAFETY: the swap found WAITING, so the waker's cell is ours: the future touches it in
            // EMPTY only, and there is no way from DONE to there.
            let waker = self.waker.with_mut(|cell| unsafe { (*cell).take() });
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Resolver<T> {
    /// Gives the value, and wakes the future that awaits it. Wait-free, except for what the waker
    /// does.
    ///
    /// The caller's earlier acts happen before the poll that returns the value.
    pub fn resolve(self, value: T) {
        // SAFETY: the one resolver is used up. Only that makes the state DONE.
        unsafe {
            self.promise.put(value);
            self.promise.give();
        }
    }
}

impl<T: Send + 'static> Resolver<T> {
    /// Puts the value into its place, where nobody sees it yet. The result does not name `T`, so
    /// that one list can hold it for promises of all types. Wait-free; allocates nothing.
    pub fn prepare(self, value: T) -> DeferredWake {
        // SAFETY: the one resolver is used up, and the state is not DONE before `DeferredWake` is.
        unsafe { self.promise.put(value) };
        let promise = Arc::into_raw(self.promise);
        DeferredWake {
            promise: promise.cast(),
            give: give_erased::<T>,
        }
    }
}

/// # Safety
/// The address is that of an `Arc<Promise<T>>`, which this takes over, with the right of the
/// resolver that has put the value.
unsafe fn give_erased<T>(promise: *const ()) {
    // SAFETY: the caller's, all three.
    unsafe { Arc::from_raw(promise.cast::<Promise<T>>()).give() };
}

/// The resolver of a promise whose value is in its place; dropping this gives the value.
///
/// The thread's acts before the drop happen before the poll that returns the value. The drop is
/// wait-free, except for the waker, and for the destructor of a value whose future is gone.
#[must_use = "dropping it gives the value"]
pub struct DeferredWake {
    /// Points to a promise, whose type `give` knows, and owns one count of its [`Arc`].
    promise: *const (),
    give: unsafe fn(*const ()),
}

impl DeferredWake {
    /// Wraps another kind of one-shot value, so that one list can hold it beside promises: dropping
    /// this calls `give` with `value`.
    ///
    /// # Safety
    /// `give` may be called with `value` once, on any thread, at any time.
    #[inline]
    pub unsafe fn from_raw(value: *const (), give: unsafe fn(*const ())) -> Self {
        Self {
            promise: value,
            give,
        }
    }
}

// SAFETY: it is the resolver of a promise of Send values, but for its type; or what may be given on
// any thread (`from_raw`).
unsafe impl Send for DeferredWake {}

impl Drop for DeferredWake {
    fn drop(&mut self) {
        // SAFETY: `prepare` has put the value, and made the two of one type; a drop comes once.
        unsafe { (self.give)(self.promise) };
    }
}

/// The end that awaits the value. Dropping it loses the value, and drops the waker.
#[must_use = "a future does nothing unless it is awaited"]
#[doc(alias = "oneshot")]
pub struct Promised<T> {
    promise: Arc<Promise<T>>,
}

impl<T> Promised<T> {
    /// Checks if the value was given, even if a poll has returned it since. Wait-free.
    pub fn is_resolved(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `resolve`: what came before is visible to a
        // thread that is told so.
        self.promise.state.load(Ordering::Acquire) == DONE
    }

    /// Takes the value. The state is DONE, seen with Acquire.
    fn take(&mut self) -> Poll<T> {
        // SAFETY: DONE was seen with Acquire, so the resolver has written the value, and will not
        // touch it again. This end is not Clone, and is borrowed exclusively.
        let value = self
            .promise
            .value
            .with_mut(|cell| unsafe { (*cell).take() });
        match value {
            Some(value) => Poll::Ready(value),
            None => panic!("polled again after it was ready"),
        }
    }

    /// Puts a waker into its cell, or takes one out. The state is EMPTY.
    fn replace_waker(&mut self, waker: Option<Waker>) -> Option<Waker> {
        // SAFETY: the state is EMPTY, and only this end, borrowed exclusively, makes it WAITING:
        // the resolver does not touch the cell unless it finds that.
        let replace = |cell: *mut Option<Waker>| unsafe { core::mem::replace(&mut *cell, waker) };
        self.promise.waker.with_mut(replace)
    }
}

impl<T> Drop for Promised<T> {
    /// Drops the waker now: it may keep much alive, and the resolver may take long.
    fn drop(&mut self) {
        // ORDERING: Relaxed, both: as in `poll`; on failure there is no waker, or the resolver has
        // it.
        let back = self.promise.state.compare_exchange(
            WAITING,
            EMPTY,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if back.is_ok() {
            drop(self.replace_waker(None));
        }
    }
}

impl<T> Future for Promised<T> {
    type Output = T;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // ORDERING: Acquire, partner of the Release in `resolve`: the value is seen.
        match self.promise.state.load(Ordering::Acquire) {
            DONE => return self.take(),
            WAITING => {
                // ORDERING: Acquire on failure, which means DONE: as above. Relaxed on success: the
                // waker in the cell was written by this end, and its moves between threads since
                // have ordered that.
                let back = self.promise.state.compare_exchange(
                    WAITING,
                    EMPTY,
                    Ordering::Relaxed,
                    Ordering::Acquire,
                );
                if back.is_err() {
                    return self.take();
                }
            }
            _ => {}
        }
        let waker = context.waker().clone();
        drop(self.replace_waker(Some(waker)));
        // ORDERING: Release on success, partner of the Acquire in `resolve`: the waker is seen.
        // Acquire on failure, which means DONE: the value is.
        let waits = self.promise.state.compare_exchange(
            EMPTY,
            WAITING,
            Ordering::Release,
            Ordering::Acquire,
        );
        match waits {
            Ok(_) => Poll::Pending,
            Err(_) => self.take(),
        }
    }
}

impl<T> fmt::Debug for Resolver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

impl fmt::Debug for DeferredWake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredWake").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Promised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promised")
            .field("resolved", &self.is_resolved())
            .finish_non_exhaustive()
    }
}
