//! The moment at which nothing can run any more, unless somebody outside makes something runnable.

use std::error::Error;
use std::fmt;

use filch_sync::atomic::{AtomicUsize, Ordering, fence};
use filch_sync::{Condvar, Mutex};

use crate::Processors;
use crate::crew::{Crew, Work};
use crate::idle::Stillness;

/// Who waits for such a moment.
pub(crate) struct Quiet {
    observers: AtomicUsize,
    /// How many there have been while somebody waited, and whether the last thread has left.
    moments: Mutex<Moments>,
    another: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Moments {
    seen: u64,
    over: bool,
}

/// There will be no such moment: the pool has been stopped, its threads have left, and some tasks,
/// which came too late, will never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeverQuiescent;

impl fmt::Display for NeverQuiescent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool was stopped before these tasks came: they will never run")
    }
}

impl Error for NeverQuiescent {}

impl Quiet {
    pub(crate) fn new() -> Self {
        Self {
            observers: AtomicUsize::new(0),
            moments: Mutex::new(Moments::default()),
            another: Condvar::new(),
        }
    }

    /// The innermost lock: `change` takes none.
    fn report(&self, change: impl FnOnce(&mut Moments)) {
        change(&mut crate::lock(&self.moments));
        self.another.notify_all();
    }
}

impl Crew {
    /// Whether at some moment during the call all processors were idle (or at rest), all queues
    /// empty, and no blocking call under way. `true` is exact; `false` may be about a wake-up in
    /// vain.
    pub fn is_quiescent(&self, work: &impl Work) -> bool {
        self.still_moment(work)
            .is_some_and(|still| self.idle.is_still(still))
    }

    /// Such a moment, if [`Idle`](crate::idle::Idle) confirms that it lasts.
    pub(crate) fn still_moment(&self, work: &impl Work) -> Option<Stillness> {
        // The cheap part. While the idle word stays as it is, nobody is woken: whoever is idle
        // stays so.
        let still = self.idle.stillness()?;
        // ORDERING: Acquire, partner of the Release in `lay_down`: whose processor does not count
        // any more, of that machine we see that it went away, and what it left in the global queue.
        if still.idle != self.live.load(Ordering::Acquire) {
            return None;
        }
        // ORDERING: Relaxed: a machine goes away while it has a processor, whose going idle was
        // acquired with the word, and whose being given up with `live`; and it is back while it has
        // one again: if that is what we see, `is_still` sees that it was taken off the stack.
        if self.away.load(Ordering::Relaxed) > 0 {
            return None;
        }
        // ORDERING: partner of the producer's fence in `processor_to_wake`. Either the look at the
        // queues sees its task, or the producer sees all processors idle, and has yet to wake one:
        // then its task comes after our moment.
        fence(Ordering::SeqCst);
        (!work.exists()).then_some(still)
    }

    /// Somebody has gone idle, or has given a processor up: if it was the last one, and somebody
    /// wants to know, look and tell; and if the pool stops, this is the end.
    pub(crate) fn announce_quiescence(&self, work: &impl Work) {
        // ORDERING: partner of the fences in `await_quiescence` and `stop`. Either we see the
        // observer, or it sees us idle, or our processor at rest. (Relaxed: the fence orders the
        // load.)
        fence(Ordering::SeqCst);
        if self.notice().stopping {
            self.try_end(work);
        }
        if self.quiet.observers.load(Ordering::Relaxed) == 0 {
            return;
        }
        // The look is under the lock: it comes after the beginning of every wait that its result
        // ends.
        self.quiet.report(|moments| {
            if self.is_quiescent(work) {
                moments.seen += 1;
            }
        });
    }

    /// The last thread has left a pool that was stopped.
    pub(crate) fn announce_end(&self) {
        self.quiet.report(|moments| moments.over = true);
    }

    /// Blocks until there is such a moment, or there will be none.
    ///
    /// # Errors
    /// [`NeverQuiescent`].
    pub fn await_quiescence(&self, work: &impl Work) -> Result<(), NeverQuiescent> {
        let quiet = &self.quiet;
        // Whatever is seen from here on, it is seen after what the caller did before: the lock says
        // so.
        let before = crate::lock(&quiet.moments).seen;
        // ORDERING: Relaxed: the fence orders it.
        quiet.observers.fetch_add(1, Ordering::Relaxed);
        // ORDERING: partner of the fence in `announce_quiescence`.
        fence(Ordering::SeqCst);
        let mut outcome = self.is_quiescent(work).then_some(Ok(()));
        let mut moments = crate::lock(&quiet.moments);
        let outcome = loop {
            if let Some(outcome) = outcome {
                break outcome;
            }
            if moments.seen != before {
                outcome = Some(Ok(()));
            } else if moments.over {
                outcome = Some(if work.exists() {
                    Err(NeverQuiescent)
                } else {
                    Ok(())
                });
            } else {
                moments = quiet
                    .another
                    .wait(moments)
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
            }
        };
        drop(moments);
        // ORDERING: Relaxed: one who looks too often does no harm.
        quiet.observers.fetch_sub(1, Ordering::Relaxed);
        outcome
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Whether at some moment during the call nothing could run any more: all processors idle, all
    /// queues empty, no [`blocking`](Self::blocking) call under way. From then on a task can only
    /// come from outside of the pool.
    ///
    /// `true` is exact. `false` means that something was going on, be it only a thread that had
    /// been woken in vain. Lock-free; looks into every queue if all processors are idle.
    pub fn is_quiescent(&self) -> bool {
        self.crew.is_quiescent(&self.queues)
    }

    /// Blocks until [`is_quiescent`](Self::is_quiescent) holds at some moment after the call began:
    /// a scheduler whose processes still live may then conclude that they wait for each other. On
    /// one of the pool's own threads it would wait for itself: there it must not be called.
    ///
    /// What the tasks did until then happens before the return.
    ///
    /// # Errors
    /// [`NeverQuiescent`] if the pool has been stopped and tasks came too late to be run.
    ///
    /// # Panics
    /// On a thread of the pool.
    pub fn wait_quiescent(&self) -> Result<(), NeverQuiescent> {
        assert!(
            !self.is_machine(),
            "a task that waits until no task runs waits for itself"
        );
        self.crew.await_quiescence(&self.queues)
    }
}
