//! How long an operation waits for others before it goes on without them.

use filch_sync::hint::spin_loop;

/// The pauses that one operation has left. They come in runs of 1, 2, 4 and so on.
pub(crate) struct Patience {
    left: u32,
    run: u32,
}

impl Patience {
    /// For an operation that may pause `pauses` times in all.
    pub(crate) const fn new(pauses: u32) -> Self {
        Self {
            left: pauses,
            run: 1,
        }
    }

    /// Pauses; or returns false at once when there is no pause left.
    #[cold]
    pub(crate) fn wait(&mut self) -> bool {
        let run = self.run.min(self.left);
        for _ in 0..run {
            spin_loop();
        }
        self.left -= run;
        self.run *= 2;
        run > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Patience;

    #[test]
    fn it_ends_after_the_pauses_that_were_allowed() {
        let waits = |pauses| {
            let mut patience = Patience::new(pauses);
            core::iter::from_fn(|| patience.wait().then_some(())).count()
        };
        assert_eq!([0, 1, 2, 3, 4, 63].map(waits), [0, 1, 2, 2, 3, 6]);
    }
}
