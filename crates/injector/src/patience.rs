//! How long an operation waits for others before it goes on without them.

use filch_sync::hint::spin_loop;

/// The one wait that an operation has: it is used up at the first conflict.
///
/// It is long, and nothing is looked at meanwhile. Short waits with a look after each cost the
/// other side a cache miss per look; a long one lets it do dozens of operations in a row, on lines
/// that are its own.
pub(crate) struct Patience {
    pauses: u32,
}

impl Patience {
    pub(crate) const fn new(pauses: u32) -> Self {
        Self { pauses }
    }

    /// Waits, the first time. Later it returns false at once.
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
    use super::Patience;

    #[test]
    fn it_is_used_up_by_the_first_wait() {
        let mut patience = Patience::new(3);
        assert_eq!([patience.wait(), patience.wait()], [true, false]);
        assert!(!Patience::new(0).wait());
    }
}
