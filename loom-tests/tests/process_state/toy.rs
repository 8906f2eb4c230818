//! The toy scheduler.
//!
//! Everything in it is relaxed, even its run queue: a worker sees only what the word makes visible.

use filch_process_state::{Disposal, Ending, LetGo, ProcessState, Reason, State, Wake};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

/// The end of a turn.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Idle,
    Block,
    Yield,
    Complete,
}

/// One process with two event slots, one per waker, and a run queue that has room for it once.
pub(crate) struct Toy {
    pub(crate) state: ProcessState,
    /// Entries in the run queue.
    pub(crate) entries: AtomicUsize,
    /// 1 once the event was pushed.
    events: [AtomicUsize; 2],
    /// The process itself: the events that its turns have seen. loom fails the model if two workers
    /// touch it unordered.
    pub(crate) seen: UnsafeCell<[bool; 2]>,
    /// Changed by the last user of the place, and then by the thread that gives the place away.
    place: UnsafeCell<u32>,
}

// SAFETY: `seen` is touched only between `start` and the edge that lets go: the models check that.
unsafe impl Sync for Toy {}
// SAFETY: plain data.
unsafe impl Send for Toy {}

impl Toy {
    /// Makes a Complete process, which is not queued.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: ProcessState::new_complete(),
            entries: AtomicUsize::new(0),
            events: [AtomicUsize::new(0), AtomicUsize::new(0)],
            seen: UnsafeCell::new([false; 2]),
            place: UnsafeCell::new(0),
        })
    }

    /// Makes a submitted process, which is queued.
    pub(crate) fn submitted() -> Arc<Self> {
        let toy = Self::new();
        toy.submit();
        toy
    }

    /// Makes a process that had one turn, and was let go.
    pub(crate) fn waiting(end: End) -> Arc<Self> {
        let toy = Self::submitted();
        assert!(toy.turn(end));
        toy
    }

    pub(crate) fn submit(&self) {
        self.state.submit().expect("an empty slot");
        self.enqueue();
    }

    fn enqueue(&self) {
        let before = self.entries.fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "enqueued twice");
    }

    pub(crate) fn push(&self, event: usize) {
        self.events[event].store(1, Ordering::Relaxed);
    }

    /// Pushes event number `event`, then wakes. If told to dispose, as the life is over, disposes
    /// of the events.
    pub(crate) fn send(&self, event: usize, reason: Reason) -> Wake {
        self.push(event);
        let wake = self.state.wake(reason);
        self.follow(wake);
        wake
    }

    /// Leaves event number `event`, as a failed push does.
    pub(crate) fn retract(&self, event: usize) -> Wake {
        self.push(event);
        let wake = self.state.retract();
        assert_ne!(wake, Wake::Enqueue, "it wakes nobody");
        self.follow(wake);
        wake
    }

    fn follow(&self, wake: Wake) {
        match wake {
            Wake::Enqueue => self.enqueue(),
            Wake::Dispose => {
                self.dispose();
            }
            Wake::Noted | Wake::Refused => {}
        }
    }

    /// Disposes, as a thread that was told to. Returns whether the place turned out to be vacated.
    pub(crate) fn dispose(&self) -> bool {
        let mut vacated = false;
        while let Disposal::Drain { vacated: now } = self.state.dispose().expect("it was told to") {
            vacated = now;
            if vacated {
                self.touch_place();
            }
            self.drain();
        }
        vacated
    }

    pub(crate) fn take_entry(&self) -> bool {
        self.entries
            .compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    pub(crate) fn drain(&self) {
        // SAFETY: the caller started the process and has not let go of it, or was told to dispose.
        self.seen.with_mut(|seen| unsafe {
            for (event, slot) in self.events.iter().enumerate() {
                (*seen)[event] |= slot.load(Ordering::Relaxed) == 1;
            }
        });
    }

    /// Runs one turn if the process is queued; returns whether it was.
    pub(crate) fn turn(&self, end: End) -> bool {
        if !self.take_entry() {
            return false;
        }
        self.state.start().expect("an entry means Ready");
        self.drain();
        let released = match end {
            End::Idle => self.state.idle(),
            End::Block => self.state.block(),
            End::Yield => self.state.yield_now(),
            End::Complete => {
                while self.state.complete().expect("this worker runs it") == Ending::Drain {
                    self.drain();
                }
                return true;
            }
        };
        if released == Ok(LetGo::Enqueue) {
            self.enqueue();
        }
        assert!(released.is_ok(), "this worker runs it");
        true
    }

    /// Changes the place, as its last user does, or as the thread that was told that it is vacated.
    pub(crate) fn touch_place(&self) {
        // SAFETY: the models check that the one comes before the other.
        self.place.with_mut(|place| unsafe { *place += 1 });
    }

    /// Looks at the process if it is idle; returns whether it was.
    pub(crate) fn look(&self) -> bool {
        if self.state.seize().is_err() {
            return false;
        }
        // SAFETY: this thread has seized the process and has not let go of it.
        self.seen.with_mut(|seen| unsafe { (*seen)[1] |= false });
        if self.state.idle() == Ok(LetGo::Enqueue) {
            self.enqueue();
        }
        true
    }

    /// Returns what the turns saw, once all threads are joined and the queue is empty.
    pub(crate) fn settle(&self, end: End) -> [bool; 2] {
        while self.turn(end) {}
        assert_ne!(self.state.state(), State::Ready, "Ready, and not queued");
        assert_ne!(
            self.state.state(),
            State::Running,
            "Running, and no worker has it"
        );
        self.seen()
    }

    pub(crate) fn seen(&self) -> [bool; 2] {
        // SAFETY: all other threads were joined.
        self.seen.with(|seen| unsafe { *seen })
    }
}
