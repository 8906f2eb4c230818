//! How many processes live, how many may, and whether new ones are still admitted.

use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use filch_sync::{CachePadded, Condvar, Mutex, wait_until};

/// The doors.
///
/// Without a limit each worker has a door of its own, and there is one for everybody else: who
/// comes in by one may leave by another, and only the sum of what the doors have counted is the
/// number of those inside. With a limit there is one door for all, as the limit is exact.
pub(crate) struct Admission {
    /// Each: twice those that came in here, less twice those that left here, wrapping; plus
    /// [`CLOSED`].
    doors: Box<[CachePadded<AtomicUsize>]>,
    /// All doors are closed.
    closed: AtomicBool,
    limit: Option<NonZeroUsize>,
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
    pub(crate) fn new(limit: Option<NonZeroUsize>, workers: usize) -> Self {
        let doors = if limit.is_some() { 1 } else { 1 + workers };
        Self {
            doors: (0..doors).map(|_| CachePadded::default()).collect(),
            closed: AtomicBool::new(false),
            limit,
            waiting: Mutex::new(()),
            all_ended: Condvar::new(),
        }
    }

    /// That of the worker, or of everybody else.
    fn door(&self, worker: Option<usize>) -> &AtomicUsize {
        if self.limit.is_some() {
            return &self.doors[0];
        }
        &self.doors[worker.map_or(0, |worker| worker + 1)]
    }

    /// Counts one more process, if there is room and the doors are open. `worker`: the one that the
    /// caller is.
    pub(crate) fn enter(&self, worker: Option<usize>) -> Result<(), Refusal> {
        let door = self.door(worker);
        // ORDERING: Relaxed: the compare-exchange validates it.
        let mut word = door.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Err(Refusal::Closed);
            }
            if let Some(limit) = self.limit
                && word / ONE >= limit.get()
            {
                return Err(Refusal::Full(limit));
            }
            // ORDERING: Relaxed: the count carries no data; processes are handed over by the table.
            // A loop and not an addition: a caller that overshot for a moment would make another
            // one see a full house, or the last one out of a closed one overlook that it is.
            match door.compare_exchange_weak(
                word,
                word.wrapping_add(ONE),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// A process that had entered is gone. Whether it was the last one of a closed house; of the
    /// last few, several may be told so. `worker`: the one that the caller is.
    pub(crate) fn leave(&self, worker: Option<usize>) -> bool {
        // ORDERING: Release, partner of the Acquire in `live`: what the process did happens before
        // the return of `shutdown`.
        let before = self.door(worker).fetch_sub(ONE, Ordering::Release);
        before & CLOSED != 0 && self.is_last()
    }

    /// After leaving a house whose doors are closing.
    #[cold]
    fn is_last(&self) -> bool {
        // ORDERING: partner of itself, in others that leave, and of the fence in `close`: of all
        // that look, the last one to pass its fence sees what the others have written before
        // theirs. If the house is not closed yet, that is the one who closes it.
        fence(Ordering::SeqCst);
        let last = self.is_closed() && self.live() == 0;
        if last {
            // Under the lock: the waiter is either before its look at the count, or asleep.
            let _waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.all_ended.notify_all();
        }
        last
    }

    /// Admits nobody from now on. Whether the house is empty: then nobody need be the last to
    /// [`leave`](Self::leave).
    pub(crate) fn close(&self) -> bool {
        for door in &self.doors {
            // ORDERING: Relaxed: released by the store below. Who leaves by this door later sees
            // the mark, and looks; who left earlier is seen by whoever sees the mark.
            door.fetch_or(CLOSED, Ordering::Relaxed);
        }
        // ORDERING: Release, partner of the Acquire in `is_closed`.
        self.closed.store(true, Ordering::Release);
        // ORDERING: partner of the fence in `is_last`.
        fence(Ordering::SeqCst);
        self.live() == 0
    }

    /// Whether all doors are closed.
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire, partner of the Release in `close`: who looks after this sees every
        // door closed, and so all that ever came in. Without it, one that came in might be
        // overlooked while it is seen to leave by another door, and the house taken for empty.
        // Where the answer must not be old something stands before it: in `is_last` a fence, in
        // `submit` an RMW that meets the walk of `cancel_all`.
        self.closed.load(Ordering::Acquire)
    }

    /// How many are inside. While some come in, a guess; once the house
    /// [is closed](Self::is_closed), never less than there are.
    pub(crate) fn live(&self) -> usize {
        let sum = self.doors.iter().fold(0, |sum: usize, door| {
            // ORDERING: Acquire: see `leave`.
            sum.wrapping_add(door.load(Ordering::Acquire) & !CLOSED)
        });
        // One that came in by a door that was looked at before, and left by one that was looked at
        // after, counts as less than nobody.
        usize::try_from(sum.cast_signed() / ONE.cast_signed()).unwrap_or(0)
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Admission, Refusal};
    use std::num::NonZeroUsize;
    use std::time::Duration;

    #[test]
    fn the_limit_holds_and_a_leaver_makes_room() {
        let limit = NonZeroUsize::new(2).unwrap();
        let admission = Admission::new(Some(limit), 2);
        assert_eq!(admission.enter(Some(0)), Ok(()));
        assert_eq!(admission.enter(None), Ok(()));
        assert_eq!(admission.enter(Some(1)), Err(Refusal::Full(limit)));
        assert!(!admission.leave(Some(1)), "the house is open");
        assert_eq!(admission.enter(None), Ok(()));
        assert_eq!(admission.live(), 2);
    }

    #[test]
    fn one_may_leave_by_another_door() {
        let admission = Admission::new(None, 2);
        for _ in 0..3 {
            assert_eq!(admission.enter(None), Ok(()));
            assert_eq!(admission.enter(Some(0)), Ok(()));
            assert!(!admission.leave(Some(1)));
        }
        assert_eq!(admission.live(), 3);
        assert!(!admission.close());
        assert!(!admission.leave(None));
        assert!(!admission.leave(Some(1)));
        assert!(admission.leave(Some(0)));
        assert_eq!(admission.live(), 0);
    }

    #[test]
    fn the_last_one_out_of_a_closed_house_says_so() {
        for limit in [None, Some(NonZeroUsize::MAX)] {
            let admission = Admission::new(limit, 1);
            assert_eq!(admission.enter(Some(0)), Ok(()));
            assert_eq!(admission.enter(None), Ok(()));
            assert!(!admission.close());
            assert_eq!(admission.enter(None), Err(Refusal::Closed));
            assert_eq!(admission.enter(Some(0)), Err(Refusal::Closed));
            assert!(!admission.wait(Duration::ZERO));
            assert!(!admission.leave(Some(0)));
            assert!(admission.leave(None));
            assert!(admission.wait(Duration::ZERO));
        }
    }

    #[test]
    fn an_empty_house_has_no_last_one() {
        assert!(Admission::new(None, 1).close());
    }
}
