//! Being told of steps that last long.

use std::io;
use std::time::Duration;

use filch_processors::Processors;

use crate::{Handle, Protocol, RunningCall};

/// What is told of them.
pub(crate) type OnLongStep = Box<dyn Fn(&RunningCall) + Send>;

impl<P: Protocol> Handle<P> {
    /// Has `call` told of each step that lasts longer than `limit`. See
    /// [`Builder::watchdog`](crate::Builder::watchdog).
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(crate) fn watch_steps(&self, limit: Duration, call: OnLongStep) -> io::Result<()> {
        let handle = self.clone();
        let tell = move |task| call(&handle.call_of(task));
        Processors::watch_tasks(&self.shared.processors, limit, tell)
    }
}
