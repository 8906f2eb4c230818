//! What one process has done, for whoever looks. Written by the worker that has it alone: loads and
//! stores, no RMW.

use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What its steps were given.
pub(crate) struct Figures {
    steps: AtomicU64,
    messages: AtomicU64,
}

impl Figures {
    pub(crate) fn new() -> Self {
        Self {
            steps: AtomicU64::new(0),
            messages: AtomicU64::new(0),
        }
    }

    /// For a new occupant. The caller is the submitter, before `occupy`.
    pub(crate) fn reset(&self) {
        // ORDERING: Relaxed: `occupy` releases it to whoever gets a pin. So for both.
        self.steps.store(0, Ordering::Relaxed);
        // ORDERING: see above.
        self.messages.store(0, Ordering::Relaxed);
    }

    /// One more step, which is given so many messages.
    pub(crate) fn step(&self, messages: u64) {
        // ORDERING: Relaxed: a figure for people, with one writer at a time, whom the state's edges
        // order.
        let steps = self.steps.load(Ordering::Relaxed);
        // ORDERING: see above.
        self.steps.store(steps.wrapping_add(1), Ordering::Relaxed);
        if messages > 0 {
            // ORDERING: see above.
            let before = self.messages.load(Ordering::Relaxed);
            // ORDERING: see above.
            self.messages
                .store(before.wrapping_add(messages), Ordering::Relaxed);
        }
    }

    pub(crate) fn steps(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn messages(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.messages.load(Ordering::Relaxed)
    }
}

/// What a process may wait for. One word, so that it fills a gap in the slot.
pub(crate) struct Awaited(AtomicU32);

/// It is a future that has been polled: when it waits, it waits for its waker. The other bits count
/// the commands that were yielded, and whose completion no step has seen yet.
const FUTURE: u32 = 1 << 31;

impl Awaited {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// For a new occupant. The caller is the submitter, before `occupy`.
    pub(crate) fn reset(&self) {
        self.store(0);
    }

    fn load(&self) -> u32 {
        // ORDERING: Relaxed: one writer at a time, whom the state's edges order; a figure for all
        // others.
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, word: u32) {
        // ORDERING: Relaxed: see `load`.
        self.0.store(word, Ordering::Relaxed);
    }

    /// One more command is under way.
    pub(crate) fn ask(&self) {
        self.store(self.load() + 1);
    }

    /// A step is given so many completions.
    pub(crate) fn answer(&self, completions: u32) {
        if completions > 0 {
            self.store(self.load() - completions);
        }
    }

    /// Exact for the worker that has the process.
    pub(crate) fn commands(&self) -> u32 {
        self.load() & !FUTURE
    }

    /// It is a future, or was one and has been replaced.
    pub(crate) fn set_future(&self, future: bool) {
        self.store(self.commands() | if future { FUTURE } else { 0 });
    }

    pub(crate) fn is_future(&self) -> bool {
        self.load() & FUTURE != 0
    }
}
