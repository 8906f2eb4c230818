//! Panics of code that is not ours, contained.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a user's code; a panic of it ends here.
pub(crate) fn contain(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        discard(payload);
    }
}

/// Drops what a panic carried. That runs a user's code too, which may panic again, with another
/// payload; after a few of those the last one is leaked, so that no panic reaches the caller.
pub fn discard(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MAX_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

const MAX_PAYLOADS: usize = 4;

#[cfg(test)]
mod tests {
    use super::discard;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any("its payload drops quietly");
        }
    }

    struct EndlessBomb;

    impl Drop for EndlessBomb {
        fn drop(&mut self) {
            std::panic::panic_any(EndlessBomb);
        }
    }

    #[test]
    fn a_payload_that_panics_is_contained() {
        discard(Box::new(Bomb));
    }

    #[test]
    fn one_that_always_panics_is_leaked_in_the_end() {
        discard(Box::new(EndlessBomb));
    }
}
