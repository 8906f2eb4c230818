//! What a thread tells when it begins one job in the middle of another.

use std::fmt;

/// A thread waits in the middle of a job, and begins one that is no part of what it waits for, or
/// is not known to be: see [`Config::on_reentry`](crate::Config::on_reentry).
///
/// A job is called as its closure is: after the function that this stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reentry {
    pub(crate) thread: usize,
    pub(crate) waiting: Option<&'static str>,
    pub(crate) begun: &'static str,
}

impl Reentry {
    /// The [index](crate::Worker::index) of the thread's worker.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// The job that waits. `None` if the thread waits in code that is no job, such as that of a
    /// [caller](crate::Config::with_caller); or if eight jobs or more stand beneath this one, whose
    /// name is not kept then.
    pub fn waiting(&self) -> Option<&'static str> {
        self.waiting
    }

    /// The job that is about to begin, on top of it.
    pub fn begun(&self) -> &'static str {
        self.begun
    }
}

impl fmt::Display for Reentry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            thread,
            waiting,
            begun,
        } = self;
        let waiting = waiting.unwrap_or("what is no job");
        write!(
            f,
            "thread {thread} begins {begun} in the middle of {waiting}"
        )
    }
}
