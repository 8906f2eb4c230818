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
    /// Makes a parker without a token.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared::new()),
            not_sync: PhantomData,
        }
    }

    /// Takes the token; blocks until there is one. It never returns without a token.
    ///
    /// Everything before the [`unpark`](Unparker::unpark) that left the token happens before the
    /// return. The same holds for every `unpark` since the last `park`, even one that found a
    /// token.
    ///
    /// With a token: one read-modify-write, no lock, no system call. Without: blocking.
    pub fn park(&self) {
        self.shared.park(None);
    }

    /// Takes the token; blocks until there is one, for at most `timeout`. Returns whether it took
    /// one: then it synchronizes as [`park`](Self::park) does.
    ///
    /// The system may let it block longer than `timeout`. Without a token it never returns earlier.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        // A deadline that no clock can show never comes.
        self.shared.park(Instant::now().checked_add(timeout))
    }

    /// Takes the token; blocks until there is one, or until `deadline`. Returns whether it took
    /// one: then it synchronizes as [`park`](Self::park) does.
    ///
    /// A loop that parks again until a condition holds can keep one deadline, and need not compute
    /// the remaining time.
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
