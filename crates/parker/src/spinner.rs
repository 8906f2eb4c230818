//! The search for work before a thread sleeps: its rounds.

use filch_sync::{hint, thread};

/// The next step after a look that found nothing. There is no third answer, so match both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a spin only waits a little; to block is the caller's part"]
pub enum Spin {
    /// Look again.
    Again,
    /// The rounds are spent: block.
    Block,
}

/// Bounds the search for work before blocking: a few tight rounds, then rounds that let other
/// threads run.
///
/// The tight rounds catch work that comes within a microsecond. The yielding rounds matter where
/// threads share a processor: a spinner that does not yield there keeps the thread that it waits
/// for from running. But where more threads are busy than there are cores, a yield costs a time
/// slice: after one that has lasted so long, the rounds that are left count as spent, and so do the
/// yielding rounds of the next 64 waits of the program. Without an operating system, a yielding
/// round is one spin-loop hint.
///
/// ```
/// use filch_parker::{AdaptiveSpinner, Parker, Spin};
///
/// # let mut inbox = vec![1];
/// # let parker = Parker::new();
/// let mut spinner = AdaptiveSpinner::new();
/// let item = loop {
///     if let Some(item) = inbox.pop() {
///         spinner.reset();
///         break item;
///     }
///     if spinner.spin() == Spin::Block {
///         parker.park();
///         spinner.reset();
///     }
/// };
/// # assert_eq!(item, 1);
/// ```
#[derive(Debug, Clone)]
#[doc(alias = "Backoff")]
pub struct AdaptiveSpinner {
    tight: u32,
    yielding: u32,
    spent: u32,
}

impl AdaptiveSpinner {
    /// Makes a spinner with 4 tight rounds, then 12 that yield; then it says to block.
    pub const fn new() -> Self {
        Self::with_rounds(4, 12)
    }

    /// Makes a spinner with `tight` rounds, then `yielding` rounds that yield the processor.
    ///
    /// Tight round `n` issues 2ⁿ spin-loop hints, 64 at most: the first looks follow each other
    /// quickly, later ones disturb less.
    pub const fn with_rounds(tight: u32, yielding: u32) -> Self {
        Self {
            tight,
            yielding,
            spent: 0,
        }
    }

    /// Makes a spinner without rounds: with one processor, no work can come during a search.
    pub const fn none() -> Self {
        Self::with_rounds(0, 0)
    }

    /// Waits for one round, or says that it is time to block, and again until
    /// [`reset`](Self::reset).
    ///
    /// It orders nothing: the look that follows must acquire what it reads.
    pub fn spin(&mut self) -> Spin {
        self.spin_by(thread::yield_unless_busy)
    }

    /// As `spin`, with `yield_unless_busy` of [`thread`].
    #[inline]
    fn spin_by(&mut self, yield_unless_busy: impl FnOnce() -> bool) -> Spin {
        let rounds = self.tight.saturating_add(self.yielding);
        if self.spent >= rounds {
            return Spin::Block;
        }
        if self.spent < self.tight {
            hint::pause(1 << self.spent.min(6));
        } else if yield_unless_busy() {
            self.spent = rounds;
            return Spin::Again;
        }
        self.spent += 1;
        Spin::Again
    }

    /// Starts over, after work was found or the sleep is over.
    pub const fn reset(&mut self) {
        self.spent = 0;
    }

    /// The rounds spent since the last reset, those included that busy cores have cut short.
    pub const fn rounds(&self) -> u32 {
        self.spent
    }
}

impl Default for AdaptiveSpinner {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{AdaptiveSpinner, Spin};

    fn rounds_until_block(spinner: &mut AdaptiveSpinner) -> u32 {
        while spinner.spin() == Spin::Again {}
        assert_eq!(spinner.spin(), Spin::Block, "said again");
        spinner.rounds()
    }

    #[test]
    fn a7_sixteen_rounds_by_default() {
        let mut spinner = AdaptiveSpinner::default();
        assert_eq!(spinner.rounds(), 0);
        assert_eq!(rounds_until_block(&mut spinner), 16);
        spinner.reset();
        assert_eq!(spinner.rounds(), 0);
        assert_eq!(rounds_until_block(&mut spinner), 16);
    }

    /// A failure: each of the rounds that are left costs a time slice.
    #[test]
    fn busy_cores_end_it() {
        let mut spinner = AdaptiveSpinner::new();
        let mut busy = [false, false, true].into_iter();
        for _ in 0..4 + 3 {
            let spun = spinner.spin_by(|| busy.next().expect("it was the last round"));
            assert_eq!(spun, Spin::Again);
        }
        assert_eq!((spinner.rounds(), busy.next()), (16, None));
        assert_eq!(spinner.spin(), Spin::Block);
        spinner.reset();
        assert_eq!(
            spinner.spin_by(|| unreachable!("a tight round")),
            Spin::Again
        );
    }

    #[test]
    fn as_many_rounds_as_asked_for() {
        assert_eq!(rounds_until_block(&mut AdaptiveSpinner::none()), 0);
        assert_eq!(
            rounds_until_block(&mut AdaptiveSpinner::with_rounds(40, 2)),
            42
        );
        assert_eq!(
            rounds_until_block(&mut AdaptiveSpinner::with_rounds(0, 3)),
            3
        );
        let mut endless = AdaptiveSpinner::with_rounds(1, u32::MAX);
        assert_eq!([endless.spin(), endless.spin()], [Spin::Again; 2]);
    }
}
