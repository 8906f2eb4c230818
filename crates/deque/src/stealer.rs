//! The end that steals.

use alloc::vec::Vec;
use core::{fmt, hint};

use filch_sync::Arc;

use crate::claim::Claim;
use crate::deque::Deque;
use crate::policy::Policy;
use crate::steal::Steal;
use crate::worker::Worker;

/// How many times a thief pauses after a lost race: 0.6 µs where a pause takes 10 ns, 3 µs where it
/// takes 140 cycles. ALGORITHM.md has what fewer do.
const PAUSES: u32 = 64;

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
    pub(crate) fn new(deque: Arc<Deque<T>>) -> Self {
        Self { deque }
    }

    /// Takes the oldest item.
    ///
    /// What the owner did before it pushed the item happens before this returns it.
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
        let offer = match self.deque.observe() {
            Steal::Success(offer) => offer,
            Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        // The claim ends here, since there are no others in it.
        self.deque
            .claim(&offer, 1)
            .map_or_else(lost, |(item, _others)| Steal::Success(item))
    }

    /// Takes the oldest item, if `accept` says so of the index where it lies: the lower half of a
    /// [position](Worker::position). The item that is taken lay there, public, from before that
    /// call on. So what a thief finds in there to be still so, was so when the item was in the
    /// deque. If `accept` refuses, the answer is `Empty`.
    ///
    /// As [`steal`](Self::steal) otherwise.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker = Worker::lazy(64);
    /// worker.push("older");
    /// let base = worker.position() as u32;
    /// worker.push("younger");
    /// worker.flush();
    /// let stealer = worker.stealer();
    /// // Indices wrap.
    /// let is_younger = |index: u32| index.wrapping_sub(base) as i32 >= 0;
    /// assert_eq!(stealer.steal_if(is_younger), Steal::Empty);
    /// assert_eq!(stealer.steal(), Steal::Success("older"));
    /// assert_eq!(stealer.steal_if(is_younger), Steal::Success("younger"));
    /// ```
    pub fn steal_if(&self, accept: impl FnOnce(u32) -> bool) -> Steal<T> {
        match self.deque.observe() {
            Steal::Success(offer) if !accept(offer.index()) => Steal::Empty,
            Steal::Success(offer) => self
                .deque
                .claim(&offer, 1)
                .map_or_else(lost, |(item, _others)| Steal::Success(item)),
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
        }
    }

    /// [`is_empty`](Self::is_empty), and if so, asks the owner of a [`Lazy`](crate::Lazy) deque for
    /// more: at its next push or pop one item at least is public, if it has any. Then looks again.
    /// For a thief that is about to sleep, and will not ask again.
    ///
    /// Of what the owner [publishes](Worker::has_published) this sees all, or what the caller did
    /// before this happens before the end of the call that published. So neither needs a fence: a
    /// thief says first that it sleeps, and an owner asks afterwards who does.
    pub fn demand(&self) -> bool {
        if !self.is_empty() {
            return false;
        }
        self.deque.stops.ask();
        self.is_empty()
    }

    /// Has the owner of a [`Lazy`](crate::Lazy) deque take the long way at its next push or pop,
    /// whatever there is to steal: for one that has something to tell it. Wait-free.
    pub fn interrupt(&self) {
        self.deque.stops.ask();
    }

    /// Takes the older half of the items (rounded up, at most `limit`) with one compare-and-swap.
    /// Returns the oldest and pushes the others into `into`, oldest first. Without memory
    /// for all of them, it takes as many as `into` has room for.
    ///
    /// So thieves of `into` take the loot in the order in which it was pushed, and the caller's
    /// [`pop`](Worker::pop) takes it from the other end, the youngest first. To run the loot in
    /// order, steal it from `into` through a [`Stealer`], or steal one item at a time.
    ///
    /// If `into` is the owner's end of this very deque, only the oldest item is taken, as by
    /// [`steal`](Self::steal).
    ///
    /// What the victim did before it pushed the items happens before this returns, and before a
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
    pub fn steal_half_into<P: Policy>(&self, into: &Worker<T, P>, limit: usize) -> Steal<T> {
        let limit = if into.owns(&self.deque) {
            limit.min(1)
        } else {
            limit
        };
        let reserve = |count| into.try_make_room(count).is_ok();
        self.claim_half(limit, into.room() as usize, reserve)
            .map(|(oldest, others)| {
                into.receive(others);
                oldest
            })
    }

    /// Takes the older half of the items (rounded up, at most `limit`) with one compare-and-swap.
    /// Returns the oldest and appends the others to `into`, oldest first.
    ///
    /// For a thief whose queue is not a deque of this crate. If `into` has to grow, it does so
    /// before anything is taken.
    ///
    /// # Panics
    ///
    /// If `limit` is zero, and where [`Vec::reserve`] does. Then nothing was taken.
    ///
    /// ```
    /// use filch_deque::{Steal, Worker};
    ///
    /// let worker: Worker<_> = (0..8).collect();
    /// let mut loot = Vec::new();
    /// assert_eq!(worker.stealer().steal_half_into_vec(&mut loot, 16), Steal::Success(0));
    /// assert_eq!(loot, [1, 2, 3]);
    /// ```
    pub fn steal_half_into_vec(&self, into: &mut Vec<T>, limit: usize) -> Steal<T> {
        let room = into.capacity() - into.len();
        let reserve = |count| {
            into.reserve(count as usize);
            true
        };
        self.claim_half(limit, room, reserve)
            .map(|(oldest, others)| {
                // `into` has room: nothing is allocated while the claim is open.
                others.for_each(|item| into.push(item));
                oldest
            })
    }

    /// Claims the older half, at most `limit`. If the loot beside the oldest item needs more than
    /// `room`, `reserve` makes room for it before the claim: after it nothing may allocate or
    /// panic. If it could not, there is less loot.
    #[inline]
    fn claim_half(
        &self,
        limit: usize,
        room: usize,
        reserve: impl FnOnce(u32) -> bool,
    ) -> Steal<(T, Claim<T>)> {
        assert!(limit > 0, "a thief that may take nothing");
        let offer = match self.deque.observe() {
            Steal::Success(offer) => offer,
            Steal::Empty => return Steal::Empty,
            Steal::Retry => return Steal::Retry,
        };
        let half = offer.count().div_ceil(2);
        let count = u32::try_from(limit).map_or(half, |limit| half.min(limit));
        let mut others = count - 1;
        if room < others as usize {
            // The count of an offer that was overtaken may be far off: do not allocate for it.
            if !self.deque.stands(&offer) {
                return Steal::Retry;
            }
            if !reserve(others) {
                others = room as u32;
            }
        }
        self.deque
            .claim(&offer, 1 + others)
            .map_or_else(lost, Steal::Success)
    }

    /// Which item is public, if exactly one is: to be compared with the answer of an earlier call.
    ///
    /// Under [`Strict`](crate::Strict) every pop of the owner and every steal changes the answer.
    /// So two equal answers in a row say that the item has waited in between, unless there were 2³²
    /// such calls. A thief that can wait leaves an only item to its owner, which mostly pops it
    /// next, and takes it if it is still there at the second look.
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
        self.deque
            .observe()
            .success()
            .and_then(|offer| offer.sole())
            .map(Sole)
    }

    /// Whether there was no public item, as far as the calling thread could know. It may have
    /// changed since.
    ///
    /// A sleeper asks this after the sequentially consistent fence of its handshake; then it sees
    /// every item that was public before the pusher's fence. In a [`Strict`](crate::Strict) deque
    /// an item is public when it is pushed. In a [`Lazy`](crate::Lazy) one it may be private until
    /// its owner's next [`flush`](Worker::flush), and the answer is `true` meanwhile: an owner that
    /// looks for sleepers flushes before its fence, or runs the rest itself. While the owner
    /// replaces its ring the answer is `false`.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::lazy(64);
    /// worker.push_batch(0..4);
    /// while !worker.stealer().is_empty() {
    ///     let _ = worker.stealer().steal();
    /// }
    /// assert!(!worker.is_empty(), "a thief does not see what is private");
    /// worker.flush();
    /// assert!(!worker.stealer().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.deque.observe().is_empty()
    }

    /// How many public items there were at some moment: a figure for people, out of date as soon as
    /// it is known. Private items are not counted. Wait-free.
    ///
    /// While the owner replaces its ring, the number cannot be told and the answer is 1.
    ///
    /// ```
    /// use filch_deque::Worker;
    ///
    /// let worker = Worker::new();
    /// worker.push_batch(0..5);
    /// assert_eq!(worker.stealer().len(), 5);
    /// ```
    pub fn len(&self) -> usize {
        match self.deque.observe() {
            Steal::Empty => 0,
            Steal::Retry => 1,
            Steal::Success(offer) => offer.count() as usize,
        }
    }
}

/// The only public item of a deque, as a thief [saw it](Stealer::sole).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sole(u64);

/// The answer to a claim that failed, after a pause.
///
/// The thread that came first works on the same cache lines. To look again at once would take them
/// away from it, and cost the owner more than the thief could gain.
#[cold]
fn lost<T>() -> Steal<T> {
    for _ in 0..PAUSES {
        // Not the model's hint: this awaits nothing, so a model need not switch threads.
        hint::spin_loop();
    }
    Steal::Retry
}

impl<T, P: Policy> Worker<T, P> {
    /// A thief's end of this deque.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(Arc::clone(&self.deque))
    }
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.deque))
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}
