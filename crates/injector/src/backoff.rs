//! The wait of an operation for others, before it goes on without them.

use filch_sync::hint::spin_loop;

/// The one wait of an operation. The first conflict uses it up.
///
/// It is long, and looks at nothing. Short waits with looks cost the other side a cache miss a
/// look; a long one lets the other side do dozens of operations in a row, on lines that stay with
/// it.
pub(crate) struct Backoff {
    pauses: u32,
}

impl Backoff {
    pub(crate) const fn new(pauses: u32) -> Self {
        Self { pauses }
    }

    /// Waits, the first time, and returns true. Later it returns false at once.
    #[cold]
    pub(crate) fn wait(&mut self) -> bool {
        let pauses = core::mem::take(&mut self.pauses);
        for _ in 0..pauses {
            spin_loop();
        }
        pauses > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;

    #[test]
    fn the_first_wait_uses_it_up() {
        let mut backoff = Backoff::new(3);
        assert_eq!([backoff.wait(), backoff.wait()], [true, false]);
        assert!(!Backoff::new(0).wait());
    }
}
