//! The threads of a pool before they run, and who makes them.

use std::fmt;
use std::io;
use std::thread;

use filch_fork_join::{Thread, usual_stack_size};

/// A thread of a pool that a [spawn handler](crate::ThreadPoolBuilder::spawn_handler) is to make:
/// it has to call [`run`](Self::run) there.
pub struct ThreadBuilder {
    pub(crate) thread: Thread,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadBuilder {
    /// Which one of the pool's it is, from 0.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// What [`thread_name`](crate::ThreadPoolBuilder::thread_name) says of it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Bytes, as [`stack_size`](crate::ThreadPoolBuilder::stack_size) says.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs the pool's jobs on the calling thread. Returns when the pool has been dropped and what
    /// was spawned has run.
    pub fn run(self) {
        self.thread.run();
    }

    /// What the standard library needs to make the thread.
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

/// How a pool comes by its threads.
pub trait ThreadSpawn {
    /// Makes one, or says why not.
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder, _: Private) -> io::Result<()>;

    /// The size of the threads' stacks if the program does not say, if that is known.
    #[doc(hidden)]
    fn usual_stack_size(&self, _: Private) -> Option<usize>;
}

/// Nobody outside of this crate can name it, and so call or implement [`ThreadSpawn`].
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
