//! A monitor of a process on another node, at the watcher's end.

use filch_scheduler::{Pid, Protocol};

use crate::lost::Ended;

/// What is to be done once, when the watched process is over.
pub(crate) struct Watch<P: Protocol> {
    /// The process that is told.
    pub(crate) watcher: Pid,
    /// What it is told.
    pub(crate) message: Box<dyn FnOnce(Ended) -> P::Message + Send>,
}

/// A watch that is over: it has been taken out of where it was kept, so this is the only one.
pub(crate) struct Due<P: Protocol> {
    pub(crate) watch: Watch<P>,
    pub(crate) ended: Ended,
}
