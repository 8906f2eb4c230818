//! The threads of a pool, as its user has them: those that are to be joined, and those to be run.

use std::fmt;
use std::io;
use std::sync::Arc;

use filch_sync::thread::{self, JoinHandle};
use filch_sync::{Mutex, lock};

/// The threads to be joined.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Each with its machine's place. A thread that has exited is there until another one in its
    /// place exits, or all are joined.
    threads: Mutex<Vec<(usize, JoinHandle<()>)>>,
    /// Held during a start, a reservation or a resize: a thread that joins all waits for what these
    /// have begun.
    pub(crate) resizing: Mutex<()>,
}

impl Handles {
    /// Starts a thread. Under the lock: it finds itself in the list.
    pub(crate) fn start(
        &self,
        machine: usize,
        start: impl FnOnce() -> io::Result<JoinHandle<()>>,
    ) -> io::Result<()> {
        let mut threads = lock(&self.threads);
        threads.push((machine, start()?));
        Ok(())
    }

    /// Joins the thread that had this place before, when its successor leaves the place too, or had
    /// no thread in it for long. The former thread has nothing left to do but to exit; when the
    /// successor is joined, the former one has exited.
    pub(crate) fn join_former(&self, machine: usize) {
        let own = thread::current().id();
        let former: Vec<_> = lock(&self.threads)
            .extract_if(.., |(place, handle)| {
                *place == machine && handle.thread().id() != own
            })
            .collect();
        for (_, handle) in former {
            let _ = handle.join();
        }
    }

    /// Waits for all, also for those that come meanwhile.
    fn join(&self) {
        let own = thread::current().id();
        loop {
            let threads = {
                let _begun = lock(&self.resizing);
                let mut threads = lock(&self.threads);
                assert!(
                    threads
                        .iter()
                        .all(|(_, handle)| handle.thread().id() != own),
                    "a thread of the pool that joins its threads waits for itself"
                );
                std::mem::take(&mut *threads)
            };
            if threads.is_empty() {
                return;
            }
            for (_, handle) in threads {
                // A machine contains its tasks' panics, so it does not end by one.
                let _ = handle.join();
            }
        }
    }
}

/// The threads of a pool.
#[derive(Debug)]
#[must_use = "detach or join them"]
pub struct Machines {
    pub(crate) handles: Arc<Handles>,
}

impl Machines {
    /// Waits until all threads have exited, which they do after
    /// [`Processors::stop`](crate::Processors::stop), once no work remains. Blocking.
    ///
    /// All that the tasks did happens before the return, and so do the destructors of the threads'
    /// thread-local values.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself. The threads are detached then.
    pub fn join(self) {
        self.handles.join();
    }

    /// Lets the threads go on by themselves.
    pub fn detach(self) {}
}

/// A thread of a pool, which its maker has to run: see
/// [`Processors::start_with`](crate::Processors::start_with).
#[must_use = "a thread that does not run is missing"]
pub struct Thread {
    number: usize,
    /// Told whether the thread comes, once.
    main: Option<Box<dyn FnOnce(bool) + Send>>,
}

impl Thread {
    pub(crate) fn new(number: usize, main: impl FnOnce(bool) + Send + 'static) -> Self {
        Self {
            number,
            main: Some(Box::new(main)),
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
    pub fn run(mut self) {
        if let Some(main) = self.main.take() {
            main(true);
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(main) = self.main.take() {
            main(false);
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
