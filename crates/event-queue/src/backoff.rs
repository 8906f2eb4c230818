//! The pauses of a producer that lost a claim.

use core::mem;

use filch_sync::hint;

use crate::position::Tail;

/// The length of the pause after a claim that was lost. It waits for no particular thread.
///
/// The loser of a compare-exchange has just pulled the tail's cache line away from the winner. Left
/// alone, the winner claims several slots for the price of one transfer.
///
/// After a pause the loser's word is old: a try with it succeeds only if nobody has claimed
/// meanwhile. The first pause is short, in case the conflict was the only one. Later ones are long,
/// and end with two tries, the second with the word that the first has brought: otherwise a
/// producer that is fast enough is never interrupted.
pub(crate) struct Backoff {
    pauses: u32,
    /// The next loss is that of a first try after a long wait.
    once_more: bool,
}

impl Backoff {
    const SHORT: u32 = 32;
    /// 1.3 microseconds where a pause takes 10 nanoseconds.
    const LONG: u32 = 128;

    pub(crate) const fn new() -> Self {
        Self {
            pauses: Self::SHORT,
            once_more: false,
        }
    }

    /// Pauses after a lost try, unless another one is to follow at once. Returns the tail given.
    pub(crate) fn lost(&mut self, tail: Tail) -> Tail {
        hint::pause(self.next());
        tail
    }

    /// The number of pauses that follow this loss.
    fn next(&mut self) -> u32 {
        if mem::take(&mut self.once_more) {
            return 0;
        }
        self.once_more = self.pauses == Self::LONG;
        mem::replace(&mut self.pauses, Self::LONG)
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;

    #[test]
    fn one_short_pause_and_then_two_tries_for_each_long_one() {
        let mut backoff = Backoff::new();
        let pauses = [(); 6].map(|()| backoff.next());
        assert_eq!(pauses, [32, 128, 0, 128, 0, 128]);
    }
}
