//! What one process has done, and what it waits for, for any thread to read. Only the worker that
//! has the process writes: loads and stores, no RMW.

use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many steps a process has taken, and what they were given.
#[derive(Debug)]
pub struct ProcessStats {
    steps: AtomicU64,
    messages: AtomicU64,
}

impl ProcessStats {
    pub(crate) fn new() -> Self {
        Self {
            steps: AtomicU64::new(0),
            messages: AtomicU64::new(0),
        }
    }

    /// For a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn reset(&self) {
        // ORDERING: Relaxed, both: `Occupancy::occupy` releases them to the threads that get a pin.
        self.steps.store(0, Ordering::Relaxed);
        // ORDERING: see above.
        self.messages.store(0, Ordering::Relaxed);
    }

    /// One more step, which is given `messages` messages. The caller has the process.
    #[inline]
    pub fn step(&self, messages: u64) {
        // ORDERING: Relaxed: a number for people, with one writer at a time, and the state's edges
        // order the writers.
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

    /// The steps taken so far.
    pub fn steps(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.steps.load(Ordering::Relaxed)
    }

    /// The messages that they were given.
    pub fn messages(&self) -> u64 {
        // ORDERING: Relaxed: see `step`.
        self.messages.load(Ordering::Relaxed)
    }
}

/// How many of a process's steps were empty: without an event, while its commands were under way. A
/// word of its own, which fills a gap in the slot.
#[derive(Debug)]
pub struct StepCount(AtomicU32);

impl StepCount {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// For a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn reset(&self) {
        // ORDERING: Relaxed: `Occupancy::occupy` releases it to the threads that get a pin.
        self.0.store(0, Ordering::Relaxed);
    }

    /// One more. The caller has the process.
    pub fn add(&self) {
        // ORDERING: Relaxed: a number for people, with one writer at a time, and the state's edges
        // order the writers.
        self.0
            .store(self.get().saturating_add(1), Ordering::Relaxed);
    }

    /// How many so far; `u32::MAX` means as many or more. Wait-free.
    pub fn get(&self) -> u32 {
        // ORDERING: Relaxed: see `add`.
        self.0.load(Ordering::Relaxed)
    }
}

/// What a process may wait for: commands that it yielded, or, if it is a future, its waker. One
/// word, so that it fills a gap in the slot. Only the worker that has the process changes it.
#[derive(Debug)]
pub struct Awaited(AtomicU32);

/// The process is a future. The other bits count the commands whose completion no step has seen
/// yet.
const FUTURE: u32 = 1 << 31;

impl Awaited {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// For a new occupant, before `occupy` publishes it.
    #[inline]
    pub(crate) fn reset(&self) {
        self.store(0);
    }

    #[inline]
    fn load(&self) -> u32 {
        // ORDERING: Relaxed: one writer at a time, and the state's edges order the writers; to all
        // others it is a number for people.
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    fn store(&self, word: u32) {
        // ORDERING: Relaxed: see `load`.
        self.0.store(word, Ordering::Relaxed);
    }

    /// So many more commands are under way. The caller has the process.
    #[inline]
    pub fn ask(&self, commands: u32) {
        self.store(self.load() + commands);
    }

    /// A step is given `completions` completions. The caller has the process.
    #[inline]
    pub fn answer(&self, completions: u32) {
        if completions > 0 {
            let word = self.load();
            // A process that stands for one under test is given completions that it has not asked
            // for.
            self.store(word - completions.min(word & !FUTURE));
        }
    }

    /// How many commands are under way. Exact for the worker that has the process.
    #[inline]
    pub fn commands(&self) -> u32 {
        self.load() & !FUTURE
    }

    /// Whether it is a future from now on. The caller has the process.
    #[inline]
    pub fn set_future(&self, future: bool) {
        self.store(self.commands() | if future { FUTURE } else { 0 });
    }

    /// Whether it is a future that has been polled: when it waits, it waits for its waker.
    pub fn is_future(&self) -> bool {
        self.load() & FUTURE != 0
    }
}
