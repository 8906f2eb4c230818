//! The threads of a pool before they run, and their makers.

use std::fmt;
use std::io;
use std::thread;

use filch_fork_join::{Thread, usual_stack_size};

/// A thread of a pool that a [spawn handler](crate::ThreadPoolBuilder::spawn_handler) must make,
/// and that must call [`run`](Self::run).
pub struct ThreadBuilder {
    pub(crate) thread: Thread,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadBuilder {
    /// Returns its index in the pool, from 0.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// Returns its name, by [`thread_name`](crate::ThreadPoolBuilder::thread_name).
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns its stack size in bytes, by [`stack_size`](crate::ThreadPoolBuilder::stack_size).
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs the pool's jobs on the calling thread. Returns when the pool was dropped and all
    /// spawned jobs have run.
    pub fn run(self) {
        self.thread.run();
    }

    /// Returns a builder of the standard library for this thread.
    pub(crate) fn to_std(&self) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish()
    }
}

/// The way in which a pool gets its threads.
pub trait ThreadSpawn {
    /// Makes a thread, or returns the reason why not.
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder, _: Private) -> io::Result<()>;

    /// Returns the stack size of the threads if the program sets none, if that is known.
    #[doc(hidden)]
    fn usual_stack_size(&self, _: Private) -> Option<usize>;
}

/// Unnameable outside of this crate, so that nobody else can call or implement [`ThreadSpawn`].
#[derive(Debug)]
pub struct Private;

/// Threads of the standard library, which nobody joins.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder, _: Private) -> io::Result<()> {
        thread.to_std().spawn(|| thread.run())?;
        Ok(())
    }

    fn usual_stack_size(&self, _: Private) -> Option<usize> {
        Some(usual_stack_size())
    }
}

/// The program's own way.
#[derive(Debug)]
pub struct CustomSpawn<F>(pub(crate) F);

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    fn spawn(&mut self, thread: ThreadBuilder, _: Private) -> io::Result<()> {
        (self.0)(thread)
    }

    fn usual_stack_size(&self, _: Private) -> Option<usize> {
        None
    }
}
