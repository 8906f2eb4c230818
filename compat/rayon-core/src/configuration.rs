//! The former name of [`ThreadPoolBuilder`].

#![expect(deprecated, reason = "rayon-core offers it still")]

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::builder::ThreadPoolBuilder;
use crate::thread_pool::ThreadPool;

/// The settings of a pool. [`ThreadPoolBuilder`] can do more.
#[deprecated(note = "use `ThreadPoolBuilder`")]
#[derive(Default)]
pub struct Configuration(ThreadPoolBuilder);

/// Builds the global pool.
///
/// # Errors
/// As [`ThreadPoolBuilder::build_global`].
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(configuration: Configuration) -> Result<(), Box<dyn Error>> {
    Ok(configuration.0.build_global()?)
}

impl Configuration {
    /// As [`ThreadPoolBuilder::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    /// As there.
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error>> {
        Ok(self.0.build()?)
    }

    /// As [`ThreadPoolBuilder::thread_name`].
    pub fn thread_name<F>(self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Self(self.0.thread_name(name))
    }

    /// As [`ThreadPoolBuilder::num_threads`].
    pub fn num_threads(self, threads: usize) -> Self {
        Self(self.0.num_threads(threads))
    }

    /// As [`ThreadPoolBuilder::panic_handler`].
    pub fn panic_handler<H>(self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Self(self.0.panic_handler(handler))
    }

    /// As [`ThreadPoolBuilder::stack_size`].
    pub fn stack_size(self, bytes: usize) -> Self {
        Self(self.0.stack_size(bytes))
    }

    /// As [`ThreadPoolBuilder::breadth_first`].
    pub fn breadth_first(self) -> Self {
        Self(self.0.breadth_first())
    }

    /// As [`ThreadPoolBuilder::start_handler`].
    pub fn start_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self(self.0.start_handler(handler))
    }

    /// As [`ThreadPoolBuilder::exit_handler`].
    pub fn exit_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Self(self.0.exit_handler(handler))
    }
}

impl ThreadPool {
    /// Builds a pool.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`].
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    pub fn new(configuration: Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
