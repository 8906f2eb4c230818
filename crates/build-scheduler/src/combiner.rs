//! One state for many threads, without a lock: the thread that finds it free applies the events of
//! all.

use std::fmt;

use filch_event_queue::EventQueue;
use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

/// A state that events change, one after another.
pub trait Apply<E> {
    /// Applies an event. It must not panic: no event would ever be applied again.
    fn apply(&mut self, event: E);

    /// Called when a batch has been applied, and there may be no more. It must not panic, either.
    fn applied(&mut self);
}

/// Flat combining (Hendler, Incze, Shavit, Tzafrir, "Flat combining and the
/// synchronization-parallelism tradeoff", SPAA 2010), with a queue of events in place of the
/// publication list, and a count of them in place of the lock.
///
/// | field | who touches it, and when |
/// |---|---|
/// | `events` | any thread pushes; the driver alone drains |
/// | `signals` | a thread that runs work makes it one, if it is zero; any thread adds one after its push; the driver subtracts what it has seen |
/// | `state` | the driver |
///
/// The *driver* is the thread that brought the count from zero to one, until it has brought it back
/// to zero.
pub struct Combiner<S, E> {
    events: CachePadded<EventQueue<E>>,
    signals: CachePadded<AtomicUsize>,
    state: UnsafeCell<S>,
}

// SAFETY: the state goes from driver to driver, one at a time, as the table says; it and the events
// are Send. No `&S` is ever shared.
unsafe impl<S: Send, E: Send> Sync for Combiner<S, E> {}

impl<S: Apply<E>, E: Send> Combiner<S, E> {
    /// Makes a combiner without events.
    pub fn new(state: S) -> Self {
        Self {
            events: CachePadded::new(EventQueue::with_blocks(32, 256)),
            signals: CachePadded::new(AtomicUsize::new(0)),
            state: UnsafeCell::new(state),
        }
    }

    /// Runs the work on the state and returns its output, if no thread is at the state; then
    /// applies the events that have come meanwhile. The work must not panic, like [`Apply`]. It may
    /// call [`submit`](Self::submit).
    ///
    /// In the order of `submit`: every earlier event of this thread has been applied.
    ///
    /// Lock-free for a thread that does not become the driver.
    ///
    /// # Errors
    /// The work, if a thread is at the state: try it again, or submit it.
    pub fn run<T, W: FnOnce(&mut S) -> T>(&self, work: W) -> Result<T, W> {
        // ORDERING: Relaxed: a look, so that an exchange that would fail does not take the line
        // from the driver.
        let is_taken = self.signals.load(Ordering::Relaxed) != 0;
        // ORDERING: Acquire, partner of the Release of the subtraction that brought the count to
        // zero: the new driver sees the state as the last one left it. It publishes nothing, since
        // there is no event behind it. Relaxed on failure: the work goes back.
        let enter = || {
            self.signals
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
        };
        if is_taken || enter().is_err() {
            return Err(work);
        }
        let output = self.state.with_mut(|state| {
            // SAFETY: this thread is the driver: it brought the count from zero to one, which no
            // other thread can until it is zero again. It has acquired what the last driver did.
            let state = unsafe { &mut *state };
            let output = work(state);
            state.applied();
            output
        });
        self.leave();
        Ok(output)
    }

    /// Submits an event. Either this thread applies it, with all that come meanwhile, or the thread
    /// that is at the state does. May be called from within [`Apply`].
    ///
    /// Everything that the caller did before happens before the event is applied; events are
    /// applied one after another. If one submission returned before another was called, its event
    /// is applied first.
    ///
    /// Lock-free for a thread that is not the driver. The driver returns when no event is left, so
    /// a thread that goes on submitting keeps it.
    pub fn submit(&self, event: E) {
        let pushed = self.events.push(event);
        debug_assert!(pushed.is_ok(), "the queue is never closed");
        // ORDERING: Release, partner of the Acquire in the driver's subtraction below: its next
        // drain finds the event. Acquire, partner of the Release of the subtraction that brought
        // the count to zero: the new driver sees the state as the last one left it. A signal after
        // the push, and never before: a count that says nothing is left must not be ahead of the
        // events.
        if self.signals.fetch_add(1, Ordering::AcqRel) == 0 {
            self.drain();
            self.leave();
        }
    }

    /// Applies the waiting events. The caller is the driver.
    fn drain(&self) {
        self.state.with_mut(|state| {
            // SAFETY: this thread is the driver, as in `run`.
            let state = unsafe { &mut *state };
            // SAFETY: the driver alone drains. `apply` may push, no more.
            unsafe { self.events.drain(|event| state.apply(event)) };
            state.applied();
        });
    }

    /// Ends the driver's role when no event is left. The caller is the driver, and has done the
    /// work of its own signal.
    fn leave(&self) {
        let mut seen = 1;
        loop {
            // ORDERING: Acquire, partner of the Release in `submit`: the events behind the signals
            // that are left are there for the next drain. Each signal is a read-modify-write, so
            // that this reads from all of them. Release, partner of the Acquire in `submit` and
            // `run`: the next driver sees the state.
            let left = self.signals.fetch_sub(seen, Ordering::AcqRel) - seen;
            if left == 0 {
                return;
            }
            seen = left;
            self.drain();
        }
    }
}

impl<S, E> fmt::Debug for Combiner<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combiner")
            .field("events", &*self.events)
            .finish_non_exhaustive()
    }
}
