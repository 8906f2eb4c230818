//! The end that steals, and its request to the owner of a biased deque.

use core::fmt;

use filch_sync::Arc;
use filch_sync::asymmetric::{self, Refused};
use filch_sync::hint;

use crate::deque::Deque;
use crate::steal::Steal;
use crate::top::Top;
use crate::worker::Worker;

/// The pauses of a thief after a lost race: 0.6 µs where a pause takes 10 ns, 3 µs where it takes
/// 140 cycles. Decision 7 tells what fewer do.
const PAUSES: u32 = 64;

/// The pauses that owners have for an answer before a thief does without: 1.5 µs where a pause
/// takes 12 ns. An owner at its deque answers in a tenth of that, and a heavy fence takes longer.
const PATIENCE: u32 = 128;

/// A thief's end of a deque: takes the oldest items. Clone it, share it, send it.
///
/// Each call makes one attempt and never waits for another thread: it is wait-free.
/// [`Steal::Retry`] says that the owner or another thief made progress instead, or that the owner
/// was interrupted while it replaced its ring; in no other way does a thread that is not running
/// make others retry. After a lost race the call pauses, for a microsecond or so, before it
/// answers. So a caller may try again, or elsewhere, at once.
///
/// The deque's [`Worker`] may be gone: then there is nothing to steal.
pub struct Stealer<T> {
    deque: Arc<Deque<T>>,
}

impl<T> Stealer<T> {
    /// Takes the oldest item.
    ///
    /// All that the owner did before it pushed the item happens before this returns it.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::new();
    /// worker.push(1);
    /// worker.push(2);
    /// assert_eq!(worker.stealer().steal(), Steal::Success(1));
    /// ```
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        self.steal_if(|_| true)
    }

    /// Takes the oldest item, if `accept` says so of the index where it lies: the lower half of a
    /// [position](Worker::position). The item was in the deque, in reach, before `accept` ran; what
    /// `accept` observes held while it was there. If `accept` refuses, the answer is `Empty`.
    ///
    /// As [`steal`](Self::steal) otherwise.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::new();
    /// worker.push("older");
    /// let base = worker.position() as u32;
    /// worker.push("younger");
    /// let stealer = worker.stealer();
    /// // Indices wrap.
    /// let is_younger = |index: u32| index.wrapping_sub(base) as i32 >= 0;
    /// assert_eq!(stealer.steal_if(is_younger), Steal::Empty);
    /// assert_eq!(stealer.steal(), Steal::Success("older"));
    /// assert_eq!(stealer.steal_if(is_younger), Steal::Success("younger"));
    /// ```
    #[inline]
    pub fn steal_if(&self, accept: impl FnOnce(u32) -> bool) -> Steal<T> {
        let offer = match self.deque.observe() {
            Steal::Success(offer) if accept(offer.first as u32) => offer,
            Steal::Success(_) | Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        let item = self.deque.claim(&offer, 1, |_, _| ());
        item.map_or_else(lost, Steal::Success)
    }

    /// Takes the older half of the items (rounded up, at most `limit`) with one compare-and-swap.
    /// Returns the oldest and pushes the others into `into`, oldest first. Without memory
    /// for all of them, it takes as many as `into` has room for.
    ///
    /// So thieves of `into` take the stolen items in the order in which they were pushed, and the
    /// caller's [`pop`](Worker::pop) takes them from the other end, the youngest first. To run them
    /// in order, steal them from `into` through a [`Stealer`], or steal one at a time.
    ///
    /// If `into` is the owner's end of this very deque, only the oldest item is taken, as by
    /// [`steal`](Self::steal).
    ///
    /// All that the victim did before it pushed the items happens before this returns, and before a
    /// thief of `into` gets them.
    ///
    /// # Panics
    ///
    /// If `limit` is zero, and where [`Worker::push`] does. Then nothing was taken.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let (victim, own) = (Worker::new(), Worker::new());
    /// for item in 0..8 {
    ///     victim.push(item);
    /// }
    /// // Items 0, 1, 2 and 3 change hands.
    /// assert_eq!(victim.stealer().steal_half_into(&own, 16), Steal::Success(0));
    /// assert_eq!((own.len(), victim.len()), (3, 4));
    /// assert_eq!(own.stealer().steal(), Steal::Success(1));
    /// assert_eq!(own.pop(), Some(3));
    /// ```
    #[doc(alias = "steal_batch")]
    #[doc(alias = "steal_batch_with_limit")]
    pub fn steal_half_into(&self, into: &Worker<T>, limit: usize) -> Steal<T> {
        assert!(limit > 0, "a thief that may take nothing");
        let offer = match self.deque.observe() {
            Steal::Success(offer) => offer,
            Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        let half = match into.owns(&self.deque) {
            true => 1,
            false => offer.count.div_ceil(2),
        };
        let count = u32::try_from(limit).map_or(half, |limit| half.min(limit));
        let mut others = count - 1;
        let room = into.room();
        if room < others {
            // The count of an offer that was overtaken may be far off: do not allocate for it.
            if !self.deque.is_at(offer.top) {
                return Steal::Retry;
            }
            // Before the claim: after it nothing may allocate or panic.
            if into.try_reserve(others as usize).is_err() {
                others = room;
            }
        }
        let oldest = self.deque.claim(&offer, 1 + others, |slots, second| {
            let (target, bottom) = (into.slots.get(), into.position() as u32);
            // SAFETY: they are claimed, of another ring, or none. Nothing at or past bottom is in
            // the deque of `into`, whose owner is here, and there is room.
            unsafe { slots.copy_to(second, others, target, bottom) };
        });
        let Some(oldest) = oldest else { return lost() };
        into.extend_by(others);
        Steal::Success(oldest)
    }

    /// Asks the owner of a [biased](Worker::biased) deque to share it. `None`: it is shared. For a
    /// thief that has found nothing, and is about to sleep, or to
    /// [insist](Request::revoke_all).
    ///
    /// It is one half of a handshake without fences. A thief first says, where owners look, that it
    /// sleeps; it asks; and it looks, when it has `None`, or an answer, or has insisted. An owner
    /// pushes, and looks afterwards who sleeps, if it [was asked](Worker::was_asked). Then the
    /// thief sees what was pushed, or the owner sees the thief. Wait-free: an exchange and two
    /// stores.
    pub fn ask(&self) -> Option<Request<'_, T>> {
        let deque = &*self.deque;
        let asked = deque.ask();
        (!asked.is_shared()).then_some(Request { deque, asked })
    }

    /// Returns whether the owner keeps nothing to itself. A biased deque may hold items that no
    /// other thread can see yet.
    pub fn is_shared(&self) -> bool {
        self.deque.top().is_shared()
    }

    /// The name of the item, if there is exactly one: to be compared with the answer of an earlier
    /// call. Nobody is asked.
    ///
    /// Every steal changes the answer, and in a shared deque every pop of the owner. So two equal
    /// answers in a row say that the item has waited in between, unless there were 2³² such calls;
    /// of a [biased](Worker::biased) deque only if its owner is known to have popped nothing. A
    /// thief that can wait leaves an only item to its owner, which mostly pops it next, and takes
    /// it if it is still there at the second look.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker: Worker<_> = Worker::new();
    /// let stealer = worker.stealer();
    /// assert_eq!(stealer.sole(), None);
    /// worker.push("first");
    /// let seen = stealer.sole();
    /// assert!(seen.is_some());
    /// assert_eq!(stealer.sole(), seen, "it waits");
    ///
    /// worker.pop();
    /// worker.push("second");
    /// assert_ne!(stealer.sole(), seen, "the owner was here");
    /// worker.push("third");
    /// assert_eq!(stealer.sole(), None, "there are two");
    /// ```
    pub fn sole(&self) -> Option<Sole> {
        let (top, count) = self.deque.look();
        (count == Some(1)).then_some(Sole(top.0))
    }

    /// Returns whether there was no item, as far as the calling thread could know. It may have
    /// changed since.
    ///
    /// A sleeper asks this after the sequentially consistent fence of its handshake; then it sees
    /// every item that was pushed before the pusher's fence. Beside a pusher that passes none it
    /// [asks](Self::ask) before. While the owner replaces its ring the answer is `false`.
    /// Wait-free.
    pub fn is_empty(&self) -> bool {
        self.deque.look().1 == Some(0)
    }

    /// Returns the number of items at some moment: a figure for people, out of date as soon as it
    /// is known. Wait-free.
    ///
    /// While the owner replaces its ring, the number cannot be told and the answer is 1.
    pub fn len(&self) -> usize {
        self.deque.look().1.map_or(1, |count| count as usize)
    }
}

/// The owner of a [biased](crate::Worker::biased) deque was asked to share it, by
/// [`Stealer::ask`]. Its next call does so, within nanoseconds if it works on its deque, but never
/// if it sleeps. A thief that does not want to wait [takes](Self::revoke_all) the deque from it.
#[must_use = "the owner shares at its next call; `revoke_all` does not wait for that"]
pub struct Request<'a, T> {
    deque: &'a Deque<T>,
    asked: Top,
}

impl<T> Request<'_, T> {
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
            // SAFETY: the word was that when the owner was asked, and it was not shared.
            // The fence came after.
            unsafe { request.deque.revoke(request.asked) };
        }
        Ok(())
    }
}

impl<T> fmt::Debug for Request<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("is_pending", &self.is_pending())
            .finish()
    }
}

/// The only item of a deque, as a thief [saw it](Stealer::sole).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sole(u64);

/// The answer to a claim that failed, after a pause.
///
/// The thread that came first works on the same cache lines. To look again at once would take them
/// away from it, and cost the owner more than the thief could gain.
#[cold]
fn lost<T>() -> Steal<T> {
    for _ in 0..PAUSES {
        // Not a model's hint: this awaits nothing, so a model need not switch threads.
        core::hint::spin_loop();
    }
    Steal::Retry
}

impl<T> Worker<T> {
    /// A thief's end of this deque.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer {
            deque: Arc::clone(&self.deque),
        }
    }

    /// Returns whether this is the owner's end of `deque`.
    fn owns(&self, deque: &Arc<Deque<T>>) -> bool {
        Arc::ptr_eq(&self.deque, deque)
    }
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self {
            deque: Arc::clone(&self.deque),
        }
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}
