//! The end that waits.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use std::time::{Duration, Instant};

use filch_sync::Arc;

use crate::shared::Shared;
use crate::unparker::Unparker;

/// The end that waits. It belongs to one thread, which may hand it on but not share it.
///
/// There is at most one token. [`Unparker::unpark`] leaves it; [`park`](Self::park) takes it, or
/// sleeps until it comes.
pub struct Parker {
    shared: Arc<Shared>,
    /// Two threads that park on one token would take each other's wake-ups: Send, but not Sync.
    not_sync: PhantomData<Cell<()>>,
}

impl Parker {
    /// A parker without a token.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared::new()),
            not_sync: PhantomData,
        }
    }

    /// Takes the token; blocks until there is one. It never returns without a token.
    ///
    /// What came before the [`unpark`](Unparker::unpark) that left the token happens before the
    /// return. That holds for every call of `unpark` since the last `park`, also for one that found
    /// a token there already.
    ///
    /// With a token: one read-modify-write, no lock, no system call. Without: blocking.
    pub fn park(&self) {
        self.shared.park(None);
    }

    /// Takes the token; blocks until there is one, for `timeout` at most. Whether it took one, and
    /// then what [`park`](Self::park) says about happens-before holds.
    ///
    /// The system may let it block longer than `timeout`. It does not return earlier without a
    /// token.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        // A deadline that no clock can show never comes.
        self.shared.park(Instant::now().checked_add(timeout))
    }

    /// Takes the token; blocks until there is one, or until `deadline`. Whether it took one, and
    /// then what [`park`](Self::park) says about happens-before holds.
    ///
    /// A loop that parks again until some condition holds keeps its deadline this way, and need not
    /// compute the time that is left.
    pub fn park_deadline(&self, deadline: Instant) -> bool {
        self.shared.park(Some(deadline))
    }

    /// Another end that wakes this one.
    pub fn unparker(&self) -> Unparker {
        Unparker::new(Arc::clone(&self.shared))
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker")
            .field("token", &self.shared.token)
            .finish_non_exhaustive()
    }
}
