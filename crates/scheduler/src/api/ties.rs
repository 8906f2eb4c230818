//! What a process is tied to from its first moment.

use std::error::Error;

use crate::table::WatchKind;

use crate::{Handle, Pid, Protocol};

/// What a process is tied to from its first moment.
pub(crate) struct Ties<'a, P: Protocol> {
    pub(crate) watches: Vec<(WatchKind, Pid)>,
    pub(crate) conditions: Vec<Condition<'a, P>>,
}

/// Called with the PID of the process to come. If it fails, the process is not submitted.
pub(crate) type Condition<'a, P> =
    Box<dyn FnOnce(&Handle<P>, Pid) -> Result<(), Box<dyn Error + Send + Sync>> + 'a>;

impl<P: Protocol> Default for Ties<'_, P> {
    fn default() -> Self {
        Self {
            watches: Vec::new(),
            conditions: Vec::new(),
        }
    }
}
