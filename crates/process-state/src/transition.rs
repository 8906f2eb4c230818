//! The edges: each is one method and one successful read-modify-write. STATES.md has the table.

use core::fmt;

use filch_sync::atomic::{AtomicU32, Ordering};

use crate::answer::{Edge, Ending, IllegalTransition, LetGo, Wake};
use crate::state::{Reason, Snapshot, State};

/// The life of one process.
///
/// | edge | taken by |
/// |---|---|
/// | [`wake`](Self::wake) | any thread, at any time |
/// | [`submit`](Self::submit) | the owner of the slot |
/// | [`start`](Self::start) | the worker that took the process out of a run queue |
/// | [`seize`](Self::seize) | a thread that looks at a process which waits |
/// | [`yield_now`](Self::yield_now), [`block`](Self::block), [`idle`](Self::idle), [`complete`](Self::complete) | the worker that started it; or the thread that seized it |
/// | [`retract`](Self::retract) | a thread whose push came to nothing |
/// | [`vacate`](Self::vacate) | the last user of the place, of a process that is over |
/// | [`dispose`](Self::dispose) | the thread that was told to |
///
/// A caller that breaks these rules gets an [`IllegalTransition`], and the word stays as it was. Of
/// two callers that race for one edge, one gets it.
pub struct ProcessState {
    pub(crate) word: AtomicU32,
}

impl ProcessState {
    /// Makes a process Ready, as if submitted: the caller must enqueue it.
    ///
    /// The constructor publishes nothing: the caller's run queue hands the process to the first
    /// worker.
    pub fn new_ready() -> Self {
        Self::at(Snapshot::READY)
    }

    /// Complete: an empty place that the caller owns, for a later `submit`.
    pub fn new_complete() -> Self {
        Self::at(Snapshot::VACANT)
    }

    pub(crate) fn at(word: Snapshot) -> Self {
        Self {
            word: AtomicU32::new(word.bits()),
        }
    }

    /// Complete → Ready: a new life begins. On success the caller must enqueue the process, exactly
    /// once. The place must be the caller's: a new one, or one that was [vacated](Self::vacate) and
    /// [disposed of](Self::dispose).
    ///
    /// It clears the flags of the life before, and does not drain its events. A late wake-up for
    /// that life costs the new one at most a turn without an event.
    ///
    /// The life that [`complete`](Self::complete) ended happens before the return of `submit`;
    /// everything before `submit` happens before the first [`start`](Self::start). Wait-free.
    ///
    /// # Errors
    /// The process is not Complete.
    pub fn submit(&self) -> Result<(), IllegalTransition> {
        // ORDERING: Release pairs with the Acquire of `start`: without it the first worker would
        // not see the new process. Acquire pairs with the Release of `complete`: without it the new
        // process could be written while the end of the old one is still being written.
        self.take(
            Edge::Submit,
            Snapshot::is_complete,
            Ordering::AcqRel,
            |_| Snapshot::READY,
        )?;
        Ok(())
    }

    /// Ready → Running: the caller took the process out of a run queue, and runs it now. All
    /// pending flags are consumed: drain the event queue after this call, never before.
    ///
    /// Everything before a [`wake`](Self::wake) that this call consumes, and the whole turn before,
    /// on any worker, happen before its return. Wait-free: it retries only when a waker sets a flag
    /// meanwhile, and there are three flags.
    ///
    /// # Errors
    /// The process is not Ready: it was enqueued twice.
    pub fn start(&self) -> Result<(), IllegalTransition> {
        // ORDERING: Acquire pairs with the Release of every `wake` since the last `start` (their
        // events are drained next), with that of the letting-go edge (the process itself), and with
        // that of `submit`. All are RMWs, so the word that is read here continues the release
        // sequence of each. No Release: nothing was written that a waker reads.
        self.take(Edge::Start, Snapshot::is_ready, Ordering::Acquire, |_| {
            Snapshot::RUNNING
        })?;
        Ok(())
    }

    /// Idle → Running: the caller looks at a waiting process as a worker would, and lets go of it
    /// by [`idle`](Self::idle) at once. No flag was pending, and none is consumed: an event that
    /// comes meanwhile makes it Ready then.
    ///
    /// The whole turn before happens before the return. Wait-free: an attempt fails only when a
    /// waker has made the process Ready, or another thread has seized it.
    ///
    /// # Errors
    /// The process is not Idle.
    pub fn seize(&self) -> Result<(), IllegalTransition> {
        // ORDERING: Acquire pairs with the Release of the letting-go edge: without it the caller
        // would not see what that turn wrote into the process. No Release: nothing was written.
        self.take(Edge::Seize, Snapshot::is_idle, Ordering::Acquire, |_| {
            Snapshot::RUNNING
        })?;
        Ok(())
    }

    /// Any state: an event of this kind was pushed before this call. The answer says whether the
    /// caller must enqueue the process for it.
    ///
    /// Each time the process becomes Ready, exactly one of all wake-ups and letting-go edges is
    /// told to enqueue it. Everything before `wake` happens before the return of the
    /// [`start`](Self::start) that consumes its flag. Everything before the process was submitted,
    /// or let go of, happens before the return of the `wake` that finds it so. So a thread that
    /// enqueues a process may read what was set for this life; the worker that takes the entry may,
    /// too, before `start`.
    ///
    /// One `fetch_or`, also where it changes nothing: STATES.md says why it must not be left out
    /// there. Wait-free where that is one instruction; on x86-64 lock-free, a loop that another
    /// change of the word repeats.
    pub fn wake(&self, reason: Reason) -> Wake {
        // ORDERING: Release pairs with the Acquire of `start` (and of `complete`): without it the
        // flag could be consumed and the event not be seen. Acquire pairs with the Release of
        // `submit` and of the letting-go edges: this thread hands the entry on. It may be a late
        // waker of an earlier life, which has no other edge from the submitter. Without it, a
        // worker that takes the entry and looks before `start` could see what was set for an
        // earlier life.
        let old = self.word.fetch_or(reason.flag(), Ordering::AcqRel);
        let old = Snapshot::from_bits(old);
        if !old.is_ready() && old.woken(reason).is_ready() {
            Wake::Enqueue
        } else if old.is_complete() {
            Wake::of_over(old)
        } else {
            Wake::Noted
        }
    }

    /// Running → Ready: the process goes on after other processes have run. The answer is always
    /// [`LetGo::Enqueue`].
    ///
    /// The turn happens before the return of the next [`start`](Self::start). Wait-free, like
    /// `start`.
    ///
    /// # Errors
    /// The process is not Running.
    pub fn yield_now(&self) -> Result<LetGo, IllegalTransition> {
        self.let_go(Edge::Yield, Snapshot::yielded)
    }

    /// Running → Blocked: the process awaits a completion. It is Ready at once if a completion or a
    /// cancellation came since [`start`](Self::start), even if this turn has drained it. A message
    /// waits for the completion.
    ///
    /// The turn happens before the return of the next [`start`](Self::start). Wait-free, like
    /// `start`. After [`LetGo::Waits`] another worker may run the process: do not touch it.
    ///
    /// # Errors
    /// The process is not Running.
    pub fn block(&self) -> Result<LetGo, IllegalTransition> {
        self.let_go(Edge::Block, Snapshot::blocked)
    }

    /// Running → Idle: the process awaits a message. It is Ready at once if anything came since
    /// [`start`](Self::start), even if this turn has drained it.
    ///
    /// The turn happens before the return of the next [`start`](Self::start). Wait-free, like
    /// `start`. After [`LetGo::Waits`] another worker may run the process: do not touch it.
    ///
    /// # Errors
    /// The process is not Running.
    pub fn idle(&self) -> Result<LetGo, IllegalTransition> {
        self.let_go(Edge::Idle, Snapshot::idle)
    }

    /// Running → Complete: the life is over, and every later wake-up is refused. If a wake-up came
    /// since [`start`](Self::start), or since the last call of this, the process is Running still,
    /// and the answer is [`Ending::Drain`].
    ///
    /// Close the queue, empty it, and call this; empty it and call again while the answer is
    /// `Drain`. Then nothing that was promised a turn is left behind: the last drain finds each
    /// event whose wake-up came before the end; a waker, this one or another, disposes of every
    /// later one. The life happens before the return of the next [`submit`](Self::submit), of every
    /// [`snapshot`](Self::snapshot) that says Complete, and of every wake-up that finds it over.
    /// Lock-free: it answers `Drain` only because another thread has woken the process.
    ///
    /// # Errors
    /// The process is not Running.
    pub fn complete(&self) -> Result<Ending, IllegalTransition> {
        // ORDERING: Release pairs with the Acquire of `submit`, `snapshot` and `wake`: without it
        // they could see the end of a life and not what it left. Acquire pairs with the Release of
        // `wake`: without it the next drain could miss an event that was noted.
        let after = self.take(
            Edge::Complete,
            Snapshot::is_running,
            Ordering::AcqRel,
            |now| {
                if now.has_news() {
                    Snapshot::RUNNING
                } else {
                    now.at_rest()
                }
            },
        )?;
        Ok(if after.is_complete() {
            Ending::Over
        } else {
            Ending::Drain
        })
    }

    /// Returns the word. If it is Complete, the ended life happens before the return. Wait-free.
    pub fn snapshot(&self) -> Snapshot {
        // ORDERING: Acquire pairs with the Release of `complete`; see there.
        Snapshot::from_bits(self.word.load(Ordering::Acquire))
    }

    /// The state now: `self.snapshot().state()`.
    pub fn state(&self) -> State {
        self.snapshot().state()
    }

    #[inline]
    fn let_go(
        &self,
        edge: Edge,
        next: fn(Snapshot) -> Snapshot,
    ) -> Result<LetGo, IllegalTransition> {
        // ORDERING: Release pairs with the Acquire of the next `start`: without it that worker
        // would not see what this turn wrote into the process. No Acquire: the next drain comes
        // after a `start`.
        let after = self.take(edge, Snapshot::is_running, Ordering::Release, next)?;
        Ok(if after.is_ready() {
            LetGo::Enqueue
        } else {
            LetGo::Waits
        })
    }

    /// Takes `edge` to `next(word)`, which it returns, if `is_there` says that the process is where
    /// the edge begins; otherwise leaves the word alone.
    ///
    /// A compare-exchange, because a swap by a caller that may not take the edge would destroy the
    /// word. A strong one, because then an attempt fails only when the word has changed. While the
    /// party that owns the edge is in here, only wakers change the word, each flag at most once: so
    /// there are four attempts at most.
    #[inline]
    pub(crate) fn take(
        &self,
        edge: Edge,
        is_there: fn(Snapshot) -> bool,
        success: Ordering,
        mut next: impl FnMut(Snapshot) -> Snapshot,
    ) -> Result<Snapshot, IllegalTransition> {
        // ORDERING: Relaxed: a guess at the word, which the compare-exchange verifies.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let mut old = Snapshot::from_bits(word);
            if !is_there(old) {
                // A load may be old, and a failed compare-exchange is a load: it may read a word
                // from before the edge that made the process Ready, if the run queue does not order
                // that. Only an RMW is sure to read the latest. ORDERING: Relaxed: a caller that
                // may not take the edge learns only the state.
                old = Snapshot::from_bits(self.word.fetch_or(0, Ordering::Relaxed));
                if !is_there(old) {
                    let from = old.state();
                    return Err(IllegalTransition { from, edge });
                }
            }
            let new = next(old);
            // ORDERING: success as the edge says; failure Relaxed, a better guess.
            match self
                .word
                .compare_exchange(old.bits(), new.bits(), success, Ordering::Relaxed)
            {
                Ok(_) => return Ok(new),
                Err(seen) => word = seen,
            }
        }
    }
}

impl fmt::Debug for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProcessState")
            .field(&self.snapshot())
            .finish()
    }
}
