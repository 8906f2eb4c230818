//! Sleep and wake, stage 5: a processor is handed over to a thread that sleeps.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::Plain;

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 5: a machine that is woken has the processor.
    TokenIsGrant,
    /// Exercise 5: the token brings the edge, and the grant is Relaxed.
    GrantRelaxed,
}

/// A thread that may get a processor. Its sleep is a return, as in stage 1.
struct Machine {
    bug: Bug,
    /// 0, or the number of a processor and one.
    grant: AtomicU32,
    /// The parker's.
    token: AtomicBool,
    /// The end of a deque: for the thread that has processor 0.
    local: Plain<u32>,
}

impl Machine {
    // ANCHOR: grant
    /// Hands a processor over: the caller has it no more.
    fn grant(&self, processor: u32) {
        self.grant.swap(processor + 1, self.granting()); // Release
        self.unpark();
    }

    /// Returns a processor, if there is one for it; else it sleeps, or sleeps on.
    fn wait(&self) -> Option<u32> {
        if !self.park() {
            return None;
        }
        // ANCHOR_END: grant
        if self.bug == Bug::TokenIsGrant {
            return Some(0);
        }
        // ANCHOR: grant
        self.grant.swap(0, Ordering::Acquire).checked_sub(1)
    }
    // ANCHOR_END: grant

    fn unpark(&self) {
        self.token.swap(true, Ordering::Release);
    }

    fn park(&self) -> bool {
        self.token.swap(false, Ordering::Acquire)
    }

    fn granting(&self) -> Ordering {
        match self.bug {
            Bug::GrantRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        }
    }
}

/// One thread has a processor, uses it, and hands it over to a machine that sleeps. Another one
/// wakes the machine for something else.
#[test]
fn stage_5_a_grant_is_not_a_token() {
    Bound::exhaustive(2_000).check_and_refute(
        "sleep 5: a grant beside a token",
        |bug| {
            let machine = Arc::new(Machine {
                bug,
                grant: AtomicU32::new(0),
                token: AtomicBool::new(false),
                local: Plain::new(0),
            });
            let nudge = beside(&machine, Machine::unpark);
            let granter = beside(&machine, |machine| {
                machine.local.set(1);
                machine.grant(0);
            });
            let granted = machine.wait().or_else(|| machine.wait());
            granted.inspect(|_| machine.local.set(2));
            granter.join().unwrap();
            nudge.join().unwrap();
            let granted = granted.or_else(|| machine.wait());
            assert_eq!(granted, Some(0), "asleep, with a processor");
        },
        &[
            // The other thread's token: two are on one processor.
            (Bug::TokenIsGrant, "Causality violation"),
            // The other thread's token, and the grant behind it, without an edge.
            (Bug::GrantRelaxed, "Causality violation"),
        ],
    );
}
