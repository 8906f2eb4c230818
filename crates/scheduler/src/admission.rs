use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Condvar, Mutex, wait_until};

/// How many processes live, how many may, and whether new ones are still admitted.
pub(crate) struct Admission {
    /// Twice the number of live processes, plus [`CLOSED`].
    word: AtomicUsize,
    limit: NonZeroUsize,
    // For the one thread that waits in `shutdown`: a slow path, and blocking by its nature.
    waiting: Mutex<()>,
    all_ended: Condvar,
}

/// Why nobody was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Closed,
    Full(NonZeroUsize),
}

const CLOSED: usize = 1;
const ONE: usize = 2;

impl Admission {
    pub(crate) fn new(limit: NonZeroUsize) -> Self {
        Self {
            word: AtomicUsize::new(0),
            limit,
            waiting: Mutex::new(()),
            all_ended: Condvar::new(),
        }
    }

    /// Counts one more process, if there is room and the doors are open.
    pub(crate) fn enter(&self) -> Result<(), Refusal> {
        // ORDERING: Relaxed: the compare-exchange validates it.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Err(Refusal::Closed);
            }
            if word / ONE >= self.limit.get() {
                return Err(Refusal::Full(self.limit));
            }
            // ORDERING: Relaxed: the count carries no data; processes are handed over by the table. A loop and not an
            // addition: a caller that overshot for a moment would make another one see a full house.
            match self.word.compare_exchange_weak(
                word,
                word + ONE,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// A process that had entered is gone. Whether it was the last one of a closed house.
    pub(crate) fn leave(&self) -> bool {
        // ORDERING: Release, partner of the Acquire in `wait`: what the process did happens before the return of
        // `shutdown`.
        let last = self.word.fetch_sub(ONE, Ordering::Release) == ONE | CLOSED;
        if last {
            // Under the lock: the waiter is either before its look at the count, or asleep.
            let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.all_ended.notify_all();
        }
        last
    }

    /// Admits nobody from now on. Whether the house was open and empty: then nobody will be the last to
    /// [`leave`](Self::leave).
    pub(crate) fn close(&self) -> bool {
        // ORDERING: Relaxed: `Handle::cancel_all` follows it with a fence, whose partner is in `submit`.
        self.word.fetch_or(CLOSED, Ordering::Relaxed) == 0
    }

    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Relaxed: where it matters, in `submit`, a fence stands before it.
        self.word.load(Ordering::Relaxed) & CLOSED != 0
    }

    pub(crate) fn live(&self) -> usize {
        // ORDERING: Acquire: see `leave`.
        self.word.load(Ordering::Acquire) / ONE
    }

    /// Waits until nobody is left, at most for `patience`; whether nobody is. The house is closed.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        // What the clock cannot express is for ever.
        let deadline = Instant::now().checked_add(patience);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut over = false;
        while self.live() > 0 && !over {
            (waiting, over) = match deadline {
                Some(deadline) => wait_until(&self.all_ended, &self.waiting, waiting, deadline),
                None => {
                    let woken = self.all_ended.wait(waiting);
                    (woken.unwrap_or_else(PoisonError::into_inner), false)
                }
            };
        }
        self.live() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, Refusal};
    use std::num::NonZeroUsize;
    use std::time::Duration;

    #[test]
    fn the_limit_holds_and_a_leaver_makes_room() {
        let limit = NonZeroUsize::new(2).unwrap();
        let admission = Admission::new(limit);
        assert_eq!(admission.enter(), Ok(()));
        assert_eq!(admission.enter(), Ok(()));
        assert_eq!(admission.enter(), Err(Refusal::Full(limit)));
        assert!(!admission.leave(), "the house is open");
        assert_eq!(admission.enter(), Ok(()));
        assert_eq!(admission.live(), 2);
    }

    #[test]
    fn the_last_one_out_of_a_closed_house_says_so() {
        let admission = Admission::new(NonZeroUsize::MAX);
        assert_eq!(admission.enter(), Ok(()));
        assert_eq!(admission.enter(), Ok(()));
        admission.close();
        assert_eq!(admission.enter(), Err(Refusal::Closed));
        assert!(!admission.wait(Duration::ZERO));
        assert!(!admission.leave());
        assert!(admission.leave());
        assert!(admission.wait(Duration::ZERO));
    }
}
