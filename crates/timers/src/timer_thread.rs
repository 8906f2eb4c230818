//! The thread that fires timers, as others see it: whether it has exited, or which call keeps it.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_sync::panic::drop_contained;

use crate::service::Shared;

/// The thread's name, as a debugger shows it.
pub(crate) const NAME: &str = "filch-timers";

/// Makes the system wake the calling thread at its time. Linux lets a thread sleep for up to 50 µs
/// more, its *timer slack*, to wake several at once. Where this is refused, timers are as late as
/// other programs'.
pub(crate) fn be_punctual() {
    #[cfg(target_os = "linux")]
    if let Ok(link) = std::fs::read_link("/proc/thread-self")
        && let Some(number) = link.file_name().and_then(std::ffi::OsStr::to_str)
    {
        // In nanoseconds. 0 would stand for the slack of the thread that made this one. Each
        // thread has this file, but only by the path of a process.
        let _ = std::fs::write(format!("/proc/{number}/timerslack_ns"), "1");
    }
}

/// The thread of timers that were shut down or dropped. It exits when its call returns.
pub struct TimerThread(Arc<Shared>);

impl TimerThread {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// Waits until the thread fires no more, or until the `deadline`, if there is one. Blocking.
    /// Everything that it called happens before the return of `Ok`.
    ///
    /// # Errors
    /// The call that has not returned by then.
    pub fn wait(&self, deadline: Option<Instant>) -> Result<(), RunningTimer> {
        self.0.wait(deadline)
    }
}

impl fmt::Debug for TimerThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerThread").finish_non_exhaustive()
    }
}

/// A call of a timer that has not returned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningTimer {
    /// The name of its thread, as a debugger shows it.
    pub thread: &'static str,
    /// The time that it has run.
    pub elapsed: Duration,
}

impl RunningTimer {
    pub(crate) fn since(since: Instant) -> Self {
        Self {
            thread: NAME,
            elapsed: since.elapsed(),
        }
    }
}

impl fmt::Display for RunningTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (thread, seconds) = (self.thread, self.elapsed.as_secs_f64());
        write!(f, "{thread}: a timer's call, for {seconds:.1} s")
    }
}

impl Error for RunningTimer {}

filch_sync::thread_local! {
    /// Set while this thread is in [`drop_with_timers`].
    static LEFT: RefCell<Option<Vec<TimerThread>>> = RefCell::new(None)
}

/// Drops `value`, which may own timers, and contains a panic in its drop. Returns the threads of
/// the timers dropped with it: nobody has waited for them.
pub fn drop_with_timers<T>(value: T) -> Vec<TimerThread> {
    let outer = LEFT.with(|left| left.replace(Some(Vec::new())));
    drop_contained(value);
    let left = LEFT.with(|left| left.replace(outer));
    left.unwrap_or_default()
}

/// Notes the thread of timers whose last owner this thread drops.
pub(crate) fn leave(thread: TimerThread) {
    LEFT.with(|left| {
        if let Some(left) = &mut *left.borrow_mut() {
            left.push(thread);
        }
    });
}
