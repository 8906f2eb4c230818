//! The token: one word, moved by read-modify-writes only. No lock here.

use filch_sync::atomic::{AtomicU32, Ordering};

/// No token, and nobody waits for one.
const EMPTY: u32 = 0;
/// A token.
const NOTIFIED: u32 = 1;
/// No token; the parker sleeps, or holds the lock and is about to.
const PARKED: u32 = 2;

/// A token that is there or not, and the parker that may be waiting for it.
///
/// ```text
///            leave                    leave
///   EMPTY ──────────► NOTIFIED ◄────────────── PARKED
///     ▲ │                │  ▲                   ▲ │
///     │ │      take      │  └─ leave            │ │
///     │ └────────────────┼── announce ──────────┘ │
///     └──────────────────┴──────── withdraw ──────┘
/// ```
#[derive(Debug)]
pub(crate) struct Token {
    state: AtomicU32,
}

impl Token {
    /// No token.
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
        }
    }

    /// Takes the token, if there is one.
    pub(crate) fn take(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `leave`: without it `park` could return and
        // what was written before `unpark` be invisible. Failure Relaxed: nothing was received.
        self.state
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Says that the parker is going to sleep, unless there is a token, which it takes; whether it
    /// took one.
    ///
    /// The caller holds the lock, and keeps it until it sleeps.
    pub(crate) fn announce(&self) -> bool {
        // ORDERING: Relaxed: PARKED publishes nothing; that the sleeper is asleep before it is
        // notified is the lock's doing. Failure Relaxed: `withdraw` acquires.
        let announced =
            self.state
                .compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        // Only the parker leaves NOTIFIED, so a failure means a token.
        announced.is_err() && self.withdraw()
    }

    /// Back to EMPTY from whatever there is; whether that was a token, which the caller now has.
    pub(crate) fn withdraw(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `leave`, as in `take`. A swap, and not a load
        // and a store: a store could overwrite a token that came meanwhile, and a load need not see
        // the last `leave`.
        self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// Leaves a token; whether the parker had announced its sleep: then the caller must wake it.
    pub(crate) fn leave(&self) -> bool {
        // ORDERING: Release pairs with the Acquire of `take` and `withdraw`. A swap also where the
        // token lies there already: without the write this caller would not be in the release
        // sequence that the parker acquires, and what it wrote before `unpark` would be invisible
        // to the `park` that its token was for.
        self.state.swap(NOTIFIED, Ordering::Release) == PARKED
    }
}
