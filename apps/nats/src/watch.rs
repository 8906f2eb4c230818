//! A monitor of a process on another node, at the watcher's end.

use filch_scheduler::{Pid, Protocol};

use crate::lost::Ended;

/// A watch, to be done once, when the watched process has ended.
pub(crate) struct Watch<P: Protocol> {
    /// The process that is told.
    pub(crate) watcher: Pid,
    /// Makes the message.
    pub(crate) message: Box<dyn FnOnce(Ended) -> P::Message + Send>,
}

/// A watch whose process has ended: it was taken out of its map, so this is the only one.
pub(crate) struct Due<P: Protocol> {
    pub(crate) watch: Watch<P>,
    pub(crate) ended: Ended,
}
