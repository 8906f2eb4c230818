//! The figures of one process, for any thread to read.

use filch_processors::Counter;
use filch_sync::atomic::{AtomicU32, Ordering};

/// The figures of one process, and the commands or waker that it waits for. Only the worker that
/// has the process writes: loads and stores, no RMW. Wait-free.
#[derive(Debug, Default)]
pub struct ProcessStats {
    /// Steps so far.
    pub steps: Counter,
    /// Messages that they were given.
    pub messages: Counter,
    empty_steps: AtomicU32,
    /// [`FUTURE`], and the number of commands whose completion no step has seen yet.
    awaited: AtomicU32,
}

/// Set for a future that has been polled: when it waits, it waits for its waker.
const FUTURE: u32 = 1 << 31;

fn get(figure: &AtomicU32) -> u32 {
    // ORDERING: Relaxed: one writer at a time, and the state's edges order the writers; to all
    // others it is a number for people.
    figure.load(Ordering::Relaxed)
}

fn set(figure: &AtomicU32, value: u32) {
    // ORDERING: Relaxed: see `get`.
    figure.store(value, Ordering::Relaxed);
}

impl ProcessStats {
    /// Resets it for a new occupant, before `Occupancy::occupy` releases all of it to the threads
    /// that get a pin.
    #[inline]
    pub(crate) fn reset(&self) {
        self.steps.reset();
        self.messages.reset();
        set(&self.empty_steps, 0);
        set(&self.awaited, 0);
    }

    /// Counts one more step, which is given `messages` messages.
    #[inline]
    pub fn step(&self, messages: u64) {
        self.steps.add(1);
        if messages > 0 {
            self.messages.add(messages);
        }
    }

    /// Counts that step as given no event, while commands are under way.
    pub fn empty_step(&self) {
        set(&self.empty_steps, self.empty_steps().saturating_add(1));
    }

    /// Counts so many more commands under way.
    #[inline]
    pub fn ask(&self, commands: u32) {
        set(&self.awaited, get(&self.awaited) + commands);
    }

    /// Counts `completions` completions that a step is given.
    #[inline]
    pub fn answer(&self, completions: u32) {
        let word = get(&self.awaited);
        // A process that stands for one under test is given completions that it has not asked for.
        set(&self.awaited, word - completions.min(word & !FUTURE));
    }

    /// Notes if it waits for its waker from now on.
    #[inline]
    pub fn set_future(&self, future: bool) {
        set(
            &self.awaited,
            self.commands() | (u32::from(future) * FUTURE),
        );
    }

    /// Returns the steps without an event, while commands were under way; `u32::MAX`: or more.
    pub fn empty_steps(&self) -> u32 {
        get(&self.empty_steps)
    }

    /// Returns the number of commands under way. Exact for the worker that has the process.
    #[inline]
    pub fn commands(&self) -> u32 {
        get(&self.awaited) & !FUTURE
    }

    /// Checks if it is a future that waits for its waker, when it waits.
    pub fn awaits_waker(&self) -> bool {
        get(&self.awaited) & FUTURE != 0
    }
}
