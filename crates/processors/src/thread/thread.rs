//! A thread that the pool's user makes.

use std::fmt;

/// A thread of a pool, which its maker has to run: see
/// [`Processors::start_with`](crate::Processors::start_with).
#[must_use = "a thread that does not run is missing"]
pub struct Thread {
    number: usize,
    main: Box<dyn FnOnce() + Send>,
}

impl Thread {
    pub(crate) fn new(number: usize, main: impl FnOnce() + Send + 'static) -> Self {
        Self {
            number,
            main: Box::new(main),
        }
    }

    /// The number by which the [runner](crate::Runner::scratch) knows it.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Runs tasks on the calling thread, until the pool has been stopped and nothing is left.
    ///
    /// # Panics
    /// If the runner panics when it makes the thread's [scratch](crate::Runner::scratch). The
    /// thread is missing then.
    pub fn run(self) {
        (self.main)();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
