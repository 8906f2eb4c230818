use filch_sync::atomic::{AtomicU64, Ordering, fence};

use crate::backoff::Backoff;
use crate::bounded::position::{Laps, Position, Tail};
use crate::bounded::refused::Refused;
use crate::bounded::ring::Ring;

/// What a push touches, besides its slot.
pub(crate) struct Producers<T> {
    /// A [`Tail`]. Every change is an RMW, so all of them form one release sequence.
    pub(crate) tail: AtomicU64,
    /// A head that some producer read, so that most pushes leave the consumer's line alone. It may
    /// be old, and go back.
    seen_head: AtomicU64,
    pub(crate) ring: Ring<T>,
    pub(crate) laps: Laps,
}

impl<T> Producers<T> {
    /// Open, with nothing claimed from `start` on.
    pub(crate) fn new(laps: Laps, start: u64) -> Self {
        Self {
            tail: AtomicU64::new(start),
            seen_head: AtomicU64::new(start),
            ring: Ring::new(),
            laps,
        }
    }

    /// Claims a place before it is a lap ahead of `head`, which is the consumer's word, and fills
    /// its slot; see [`BoundedQueue::push`](crate::BoundedQueue::push).
    pub(crate) fn push(&self, event: T, head: &AtomicU64) -> Result<(), Refused<T>> {
        let Self {
            tail: word,
            ring,
            laps,
            ..
        } = self;
        let mut backoff = Backoff::new();
        let (place, slots) = loop {
            // ORDERING: Acquire, with the Release of `close`: a refused push comes after the close;
            // and with the Release of the claim before `next`, whose producer knew of a ring and of
            // a head that left it room: so do we now.
            let tail = Tail::from_word(word.load(Ordering::Acquire));
            if tail.closed {
                return Err(Refused::Closed(event));
            }
            let place = tail.next;
            let slots = ring.get_or_allocate(laps.capacity(), !laps.full_mark(place));
            if !self.has_room(place, head) {
                return Err(Refused::Full(event));
            }
            // ORDERING: success Release, with the consumer's snapshot: the ring is visible with the
            // first claim, and so is every push that this thread knows to be complete; without the
            // second, the consumer could pass over such a push and deliver ours first. Nothing is
            // acquired here: the slot's last life came with the head. Failure Relaxed: the word is
            // loaded again.
            let claim = word.compare_exchange_weak(
                place.to_word(),
                laps.next(place).to_word(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            if claim.is_ok() {
                break (place, slots);
            }
            backoff.lost();
        };
        // SAFETY: the ring has a slot of that index, and lives as long as the queue.
        let slot = unsafe { &*slots.add(laps.index(place)) };
        // SAFETY: the place is ours by the CAS, and `has_room` acquired a head that lies behind the
        // same slot's place of the lap before.
        unsafe { slot.fill(laps.full_mark(place), event) };
        Ok(())
    }

    /// Whether the place may be claimed, if it still is the tail. If so, the release of the same
    /// slot in the lap before was acquired.
    fn has_room(&self, place: Position, head: &AtomicU64) -> bool {
        let Self {
            seen_head, laps, ..
        } = self;
        // ORDERING: Acquire, with the Release below: what its writer acquired with the head.
        let seen = Position::from_word(seen_head.load(Ordering::Acquire));
        if !laps.is_full(seen, place) {
            return true;
        }
        let Some(head) = self.look_for_room(place, head) else {
            return false;
        };
        // ORDERING: Release, with the Acquire above: passes the edge from the consumer on.
        seen_head.store(head.to_word(), Ordering::Release);
        true
    }

    /// The head, if there is room at `place`.
    #[cold]
    fn look_for_room(&self, place: Position, head: &AtomicU64) -> Option<Position> {
        let look = || {
            // ORDERING: Acquire, with the Release of the consumer's `release`: the consumer is done
            // with the slot.
            let head = Position::from_word(head.load(Ordering::Acquire));
            (!self.laps.is_full(head, place)).then_some(head)
        };
        look().or_else(|| {
            // ORDERING: SeqCst, with the fence of the consumer in `pass_after_fence`. We read the
            // tail, and now the head; it stored the head, and then reads the tail before it says
            // that the queue is empty. Ours first: it sees the claims that we saw. Its first: we
            // see the head. Without it both could be old, and the queue said to be full by one and
            // empty by the other.
            fence(Ordering::SeqCst);
            look()
        })
    }
}
