//! The token: one word, changed by read-modify-writes only. No lock, no thread, no std.

use filch_sync::atomic::{AtomicU32, Ordering};

/// No token, and nobody waits for one.
const EMPTY: u32 = 0;
/// A token.
const NOTIFIED: u32 = 1;
/// No token; the parker sleeps, or is about to.
const PARKED: u32 = 2;

/// The word that a parker and its unparkers share: whether there is a token, and whether the parker
/// sleeps until it comes.
///
/// ```text
///            leave                    leave
///   EMPTY ──────────► NOTIFIED ◄────────────── PARKED
///     ▲ │                │  ▲                   ▲ │
///     │ │      take      │  └─ leave            │ │
///     │ └────────────────┼── announce ──────────┘ │
///     └──────────────────┴──────── withdraw ──────┘
/// ```
///
/// Where there are threads, use `Parker`, which sleeps on a condition variable. The token alone is
/// for users with a sleep of their own, such as a microcontroller's main loop that waits for an
/// interrupt. One party [takes](Self::take), [announces](Self::announce) and
/// [withdraws](Self::withdraw); any number [leave](Self::leave).
///
/// The sleep must not miss a wake-up between `announce` and its beginning. `wfe` on Arm remembers
/// an earlier event; a condition variable needs its lock, held over both.
///
/// Every method is wait-free: one read-modify-write, or two.
///
/// ```
/// use filch_parker::Token;
/// # fn wait_for_event() {}
/// # fn send_event() {}
///
/// let token = Token::new();
/// // In the interrupt handler, after it has put its work somewhere:
/// if token.leave() {
///     send_event();
/// }
/// // In the main loop, when it has found no work. It sleeps on if it is woken for nothing.
/// if !token.take() && !token.announce() {
///     while !token.take() {
///         wait_for_event();
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Token {
    state: AtomicU32,
}

impl Token {
    /// Makes a word without a token.
    pub fn new() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
        }
    }

    /// Takes the token, if there is one.
    ///
    /// Everything before each [`leave`](Self::leave) since the last taking happens before the
    /// return.
    #[must_use = "a token that was taken is gone"]
    pub fn take(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `leave`: without it `park` could return and
        // what was written before `unpark` be invisible. Failure Relaxed: nothing was received.
        self.state
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Announces that the parker is going to sleep, unless there is a token. Returns whether there
    /// was: then it is taken, as by [`take`](Self::take), and the parker must not sleep.
    #[must_use = "a parker that took a token must not sleep"]
    pub fn announce(&self) -> bool {
        // ORDERING: Relaxed: PARKED publishes nothing; that the sleeper is asleep before it is
        // notified is the lock's doing. Failure Relaxed: `withdraw` acquires.
        let announced =
            self.state
                .compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        // Only the parker ends NOTIFIED, so a failure means a token.
        announced.is_err() && self.withdraw()
    }

    /// Calls the sleep off. Returns whether a token came meanwhile, which is then taken, as by
    /// [`take`](Self::take).
    #[must_use = "a token that was taken is gone"]
    pub fn withdraw(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `leave`, as in `take`. A swap, and not a load
        // and a store: a store could overwrite a token that came meanwhile, and a load need not see
        // the last `leave`.
        self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// Leaves a token. Returns whether the parker had announced its sleep: then the caller must
    /// wake it, and no other caller is told so.
    #[must_use = "a parker that has announced its sleep must be woken"]
    pub fn leave(&self) -> bool {
        // ORDERING: Release pairs with the Acquire of `take` and `withdraw`. A swap also where the
        // token lies there already: without the write this caller would not be in the release
        // sequence that the parker acquires, and what it wrote before `unpark` would be invisible
        // to the `park` that its token was for.
        self.state.swap(NOTIFIED, Ordering::Release) == PARKED
    }
}

impl Default for Token {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Token;

    #[test]
    fn each_edge_gives_its_answer() {
        let token = Token::default();
        assert!(!token.take(), "there is none");
        assert!(!token.leave(), "nobody sleeps");
        assert!(!token.leave(), "nor now");
        assert!(token.announce(), "the token keeps the parker awake");
        assert!(!token.announce(), "there was one");
        assert!(!token.withdraw(), "nothing came");
        assert!(!token.announce());
        assert!(token.leave(), "this one wakes the parker");
        assert!(!token.leave(), "one is told so");
        assert!(token.withdraw(), "it came with the deadline");
        assert!(!token.take(), "there was one");
    }
}
