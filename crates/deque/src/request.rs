//! A thief's request to the owner of a biased deque, and what the thief can do if that is silent.

use filch_sync::asymmetric::{self, Refused};
use filch_sync::hint;

use crate::deque::Deque;
use crate::top::Top;

/// The pauses that owners have for an answer before a thief does without: 1.5 µs where a pause
/// takes 12 ns. An owner at its deque answers in a tenth of that, and a heavy fence takes longer.
const PATIENCE: u32 = 128;

/// The owner of a [biased](crate::Worker::biased) deque was asked to share it, by
/// [`Stealer::ask`](crate::Stealer::ask). Its next call does so, within nanoseconds if it works on
/// its deque, but never if it sleeps. A thief that does not want to wait for that
/// [takes](Self::revoke_all) the deque from it.
#[must_use = "the owner shares at its next call; `revoke_all` does not wait for that"]
pub struct Request<'a, T> {
    deque: &'a Deque<T>,
    asked: Top,
}

impl<'a, T> Request<'a, T> {
    /// Asks. `None`: the deque is shared already.
    pub(crate) fn new(deque: &'a Deque<T>) -> Option<Self> {
        let asked = deque.ask();
        (!asked.is_shared()).then_some(Self { deque, asked })
    }

    /// Returns whether neither the owner has answered, nor a thief in its place. Wait-free: a load.
    pub fn is_pending(&self) -> bool {
        self.deque.is_at(self.asked)
    }

    /// Gives the owners of these deques the time in which one that is at work answers, and then
    /// goes [without](Self::revoke_all) the answers of the others. It ends early when `is_enough`
    /// says so, which is asked after every few pauses.
    ///
    /// # Errors
    ///
    /// As `revoke_all`, if that was called for.
    pub fn await_all(
        requests: &[Self],
        mut is_enough: impl FnMut() -> bool,
    ) -> Result<(), Refused> {
        let mut is_over = || is_enough() || !requests.iter().any(Self::is_pending);
        match is_over() || hint::linger_until(PATIENCE, is_over) {
            true => Ok(()),
            false => Self::revoke_all(requests),
        }
    }

    /// Makes these deques shared whatever their owners do, by one heavy fence for all of them. Then
    /// [`steal`](crate::Stealer::steal) sees all that their owners had pushed when the fence was
    /// passed. Does nothing to a deque whose owner has answered meanwhile.
    ///
    /// It takes some microseconds, and stops all threads of the process for a moment. So a thief
    /// gives the owners a microsecond or two before. A deque of which this was done stays shared
    /// for some time: no other thief needs a fence for it.
    ///
    /// # Errors
    ///
    /// [`Refused`]: there is no heavy fence, for now or for good, and nothing was done.
    ///
    /// ```
    /// use filch_deque::{Request, Steal, Worker};
    /// use filch_sync::asymmetric;
    ///
    /// asymmetric::register();
    /// let worker = Worker::biased(64);
    /// worker.push_batch(["first", "second", "third"]);
    /// worker.pop();
    /// let stealer = worker.stealer();
    /// // The owner does something long. A thief asks, and takes what there is.
    /// if let Some(request) = stealer.ask() {
    ///     Request::revoke_all(&[request])?;
    /// }
    /// assert_eq!(stealer.steal(), Steal::Success("first"));
    /// # Ok::<(), asymmetric::Refused>(())
    /// ```
    pub fn revoke_all(requests: &[Self]) -> Result<(), Refused> {
        asymmetric::heavy()?;
        for request in requests {
            // SAFETY: the word was that when the owner was asked, in `new`, and it was not shared.
            // The fence came after.
            unsafe { request.deque.revoke(request.asked) };
        }
        Ok(())
    }
}

impl<T> core::fmt::Debug for Request<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Request")
            .field("is_pending", &self.is_pending())
            .finish()
    }
}
