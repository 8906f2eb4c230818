//! The words that producers write: the tail, the spare block, the sizes of blocks; and a claim.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

use filch_sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use filch_sync::hint;

use crate::block::Block;
use crate::position::{CLOSED, MAX_SLOTS, Position, Tail};
use crate::queue::{Closed, PushError};

/// The words that every push reads, and most write.
pub(crate) struct Producers<T> {
    /// A [`Tail`]. Every change within a life is an RMW, so all of them form one release sequence.
    tail: AtomicUsize,
    /// Address of a block that the consumer is done with, for the next producer that needs one; 0:
    /// none. Only the consumer puts an address here, and only over a 0.
    spare: AtomicUsize,
    /// The number of this life. Changed by the consumer while the tail is closed and nothing is
    /// claimed.
    generation: AtomicU32,
    /// Slots of the first block; each later one has twice as many and one, up to `largest`.
    first: u8,
    /// The number of blocks smaller than that which have come since there was none, or a few less.
    grown: AtomicU8,
    /// Slots of the largest blocks.
    largest: u16,
    events: PhantomData<T>,
}

/// Says whether one generation comes after the other. Out of line: mostly they are the same.
#[cold]
#[inline(never)]
fn is_later(generation: u32, than: u32) -> bool {
    generation.wrapping_sub(than).cast_signed() > 0
}

/// Returns how long a push pauses that has lost this many claims, in `pause` instructions.
///
/// The loser of a compare-exchange has just pulled the tail's cache line away from the winner. Left
/// alone, the winner claims several slots for the price of one transfer. After a pause the loser's
/// word is old: a try with it succeeds only if nobody has claimed meanwhile.
const fn pauses_after(losses: u32) -> u32 {
    match losses {
        // In case the conflict was the only one.
        1 => 32,
        // 1.3 microseconds where a pause takes 10 nanoseconds.
        _ if losses.is_multiple_of(2) => 128,
        // The word is new: a second try at once. Else a producer that is fast enough would never be
        // interrupted.
        _ => 0,
    }
}

impl<T> Producers<T> {
    /// Makes producers without a block. Cuts `first` and `largest` to what a block may have.
    pub(crate) fn new(first: usize, largest: usize) -> Self {
        Self {
            tail: AtomicUsize::new(Tail::open(Position::NONE).to_word()),
            spare: AtomicUsize::new(0),
            generation: AtomicU32::new(0),
            first: first.clamp(1, MAX_SLOTS.min(u8::MAX.into())) as u8,
            grown: AtomicU8::new(0),
            largest: largest.clamp(1, MAX_SLOTS) as u16,
            events: PhantomData,
        }
    }

    pub(crate) fn push(&self, event: T) -> Result<(), Closed<T>> {
        let Some(claim) = self.claim_any() else {
            return Err(Closed(event));
        };
        claim.fill(event);
        Ok(())
    }

    /// Claims the next slot, whichever life the queue is in; `None` if it is closed.
    #[inline]
    pub(crate) fn claim_any(&self) -> Option<Claim<'_, T>> {
        let place = self.claim();
        (place != Position::NONE).then(|| Claim {
            block: Block::at(place.block()),
            index: place.left() - 1,
            queue: PhantomData,
        })
    }

    #[inline]
    pub(crate) fn push_in(&self, generation: u32, event: T) -> Result<(), PushError<T>> {
        match self.claim_in(generation) {
            Ok(claim) => claim.fill(event),
            Err(PushError::Closed(())) => return Err(PushError::Closed(event)),
            Err(PushError::Stale(())) => return Err(PushError::Stale(event)),
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn claim_in(&self, generation: u32) -> Result<Claim<'_, T>, PushError<()>> {
        // A life that is over does not come back, so there is no need to cancel a slot. An earlier
        // generation than the caller's says nothing: the load may be old.
        let now = self.generation();
        if now != generation && is_later(now, generation) {
            return Err(PushError::Stale(()));
        }
        let Some(claim) = self.claim_any() else {
            return Err(PushError::Closed(()));
        };
        // Now the answer is final: a life ends only when every slot that was claimed in it is
        // emptied, and this one is not even filled.
        match self.generation() == generation {
            true => Ok(claim),
            // It gives the place up.
            false => Err(PushError::Stale(())),
        }
    }

    /// Claims the next slot, which comes after the place returned; `NONE` if the queue is closed.
    #[inline]
    pub(crate) fn claim(&self) -> Position {
        let tail = self.tail_after_close();
        if tail.closed || tail.next.left() == 0 {
            return self.claim_slowly(None);
        }
        match self.advance(tail, tail.next.next()) {
            Ok(()) => tail.next,
            Err(now) => self.claim_slowly(Some(now)),
        }
    }

    /// The tail. A push that it refuses comes after the close.
    #[inline]
    fn tail_after_close(&self) -> Tail {
        // ORDERING: Acquire, with the Release of `close`: a refused push comes after the close. A
        // claim does not rely on it: its own RMW acquires.
        Tail::from_word(self.tail.load(Ordering::Acquire))
    }

    /// Does the rest of `claim`, if one compare-exchange is not enough; `lost`: the tail, if one
    /// has failed. Out of line, so that a push that wins at once needs few registers.
    #[cold]
    #[inline(never)]
    fn claim_slowly(&self, lost: Option<Tail>) -> Position {
        let mut losses = 0;
        let mut pause = |now| {
            losses += 1;
            hint::pause(pauses_after(losses));
            now
        };
        let mut tail = match lost {
            Some(now) => pause(now),
            None => self.tail_after_close(),
        };
        while !tail.closed {
            let claimed = if tail.next.left() == 0 {
                self.install(tail)
            } else {
                self.advance(tail, tail.next.next()).map(|()| tail.next)
            };
            match claimed {
                Ok(place) => return place,
                Err(now) => tail = pause(now),
            }
        }
        Position::NONE
    }

    /// Brings a block, to follow the one that is used up, and claims its first slot.
    fn install(&self, tail: Tail) -> Result<Position, Tail> {
        // ORDERING: Relaxed: a block of another size does no harm.
        let grown = match tail.next {
            Position::NONE => 0,
            _ => self.grown.load(Ordering::Relaxed),
        };
        let largest = usize::from(self.largest);
        let slots = largest.min(((usize::from(self.first) + 1) << grown) - 1);
        let block = match self.take_spare() {
            0 => Block::<T>::allocate(slots),
            spare => {
                let spare = Block::at(spare);
                // SAFETY: the consumer was done with it, and the swap gave it to this thread alone.
                unsafe { spare.empty() };
                spare
            }
        };
        // SAFETY: this thread's alone until the exchange succeeds.
        let start = unsafe { block.follow(tail.next.block()) };
        if let Err(now) = self.advance(tail, start.next()) {
            // Another producer was faster, and its block has room for us.
            // SAFETY: as above; all its slots are empty.
            unsafe { block.free() };
            return Err(now);
        }
        // ORDERING: Relaxed: see above. After the claim: a block that loses it does not count.
        if slots < largest {
            self.grown.store(grown + 1, Ordering::Relaxed);
        }
        Ok(start)
    }

    /// Claims a slot, in one step.
    fn advance(&self, from: Tail, to: Position) -> Result<(), Tail> {
        // ORDERING: success Acquire, with the installation or the rewind of this block: its memory
        // is ready for us. The load has acquired that if the word is still the same one; but it may
        // be the same *again*, after a rewind. Also with `open_next_life`: the generation that is
        // loaded next is that of this life. Success Release, with the consumer's snapshot: a block
        // and its `prev` are visible with the tail that leads to them, and so is every push that
        // this thread knows to be complete; without that, the consumer could pass over such a push
        // and deliver ours first. Failure Acquire: as for `tail_after_close`.
        match self.tail.compare_exchange_weak(
            from.to_word(),
            Tail::open(to).to_word(),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => Ok(()),
            Err(now) => Err(Tail::from_word(now)),
        }
    }

    fn take_spare(&self) -> usize {
        // ORDERING: Relaxed: it only saves the swap, which decides, when there is no spare.
        if self.spare.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        // ORDERING: Acquire, with the Release in `retire`: the consumer has read its last event
        // there before this thread clears the slots.
        self.spare.swap(0, Ordering::Acquire)
    }

    /// Takes a block out of use: keeps it for the producers, or frees it.
    ///
    /// # Safety
    /// As for [`Block::free`]; and the caller is the consumer.
    pub(crate) unsafe fn retire(&self, block: Block<T>) {
        // SAFETY: live (contract).
        let start = unsafe { block.start() };
        // ORDERING: success Release, with the swap in `take_spare`. Failure Relaxed: another block
        // is there, and this one goes to the allocator. It is an RMW also because loom is not exact
        // where plain stores compete with RMWs.
        let kept = start.left() == usize::from(self.largest)
            && self
                .spare
                .compare_exchange(0, start.block(), Ordering::Release, Ordering::Relaxed)
                .is_ok();
        if !kept {
            // SAFETY: as ours.
            unsafe { block.free() };
        }
    }

    /// Frees the spare block, if there is one. Any thread.
    pub(crate) fn free_spare(&self) {
        let spare = self.take_spare();
        if spare != 0 {
            // SAFETY: the consumer was done with it, and the swap gave it to this thread alone.
            unsafe { Block::<T>::at(spare).free() };
        }
    }

    /// Returns where the tail is, with every push that happened before a claim up to there.
    pub(crate) fn snapshot(&self) -> Position {
        // ORDERING: Acquire, with the Release of every claim up to here (one release sequence of
        // RMWs): the consumer can walk the blocks, and sees as complete every push that completed
        // before one of these claims.
        Tail::from_word(self.tail.load(Ordering::Acquire)).next
    }

    /// Returns where the tail is, and whether it is closed; no edge.
    pub(crate) fn tail(&self) -> Tail {
        // ORDERING: Relaxed: the answer is about the word alone.
        Tail::from_word(self.tail.load(Ordering::Relaxed))
    }

    /// Returns where the tail is, as `tail` does; and each push that claims later sees what the
    /// caller did before.
    pub(crate) fn tail_after_notice(&self) -> Tail {
        // ORDERING: Release, with the Acquire of the claims that follow. An RMW that changes
        // nothing, so that each claim is either before it, and seen here, or after it.
        Tail::from_word(self.tail.fetch_or(0, Ordering::Release))
    }

    /// Moves the tail back to the start of its block, if it is at `end` still.
    pub(crate) fn rewind(&self, end: Position, start: Position) -> bool {
        // ORDERING: success Release, with the Acquire of the claims that follow: values were read,
        // and slots cleared, before a producer writes them again. Failure Relaxed: another slot was
        // claimed, or a block installed, or the queue closed; nothing has changed for the consumer.
        self.tail
            .compare_exchange(
                Tail::open(end).to_word(),
                Tail::open(start).to_word(),
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Takes the last block out of the tail, if the tail is as given still.
    pub(crate) fn leave_block(&self, tail: Tail) -> bool {
        let without = Tail {
            next: Position::NONE,
            ..tail
        };
        // ORDERING: Relaxed: the new word leads to no memory. Success means that no slot was
        // claimed beyond those that the consumer has emptied, and it has acquired each of them.
        let left = self.tail.compare_exchange(
            tail.to_word(),
            without.to_word(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        left.is_ok()
    }

    pub(crate) fn close(&self) {
        // ORDERING: Release, with the Acquire load in `tail_after_close`. An RMW, because a store
        // could undo a claim, and would end the release sequence that the consumer's snapshot
        // relies on.
        self.tail.fetch_or(CLOSED, Ordering::Release);
    }

    pub(crate) fn generation(&self) -> u32 {
        // ORDERING: Relaxed. After a claim: the claim acquired the `open_next_life` that began this
        // life, and the next one comes after the slot is filled, so the load can read one value
        // only. Elsewhere: the answer is about the word alone.
        self.generation.load(Ordering::Relaxed)
    }

    /// Begins the next life, and returns its number.
    ///
    /// # Safety
    /// The caller is the consumer; the tail is closed, and every claimed slot is emptied.
    pub(crate) unsafe fn open_next_life(&self) -> u32 {
        let generation = self.generation().wrapping_add(1);
        // ORDERING: Relaxed: the store to the tail below releases it.
        self.generation.store(generation, Ordering::Relaxed);
        // ORDERING: Release, with the claims of the new life: they find its generation. A store and
        // not an RMW: no compare-exchange succeeds on a closed tail, so the store undoes nothing.
        // It begins a new release sequence, and need not continue the old one: the caller is the
        // consumer, and has acquired every claim of the old one.
        self.tail
            .store(Tail::open(self.tail().next).to_word(), Ordering::Release);
        generation
    }
}

/// A place for one event, from [`EventQueue::claim`](crate::EventQueue::claim) or `claim_in`. The
/// queue refuses before there is an event to hand back. Until the place is filled, or dropped and
/// so given up, drains pass over it, and the life of the queue cannot end.
#[must_use = "dropping it gives the place up"]
pub struct Claim<'queue, T> {
    pub(crate) block: Block<T>,
    pub(crate) index: usize,
    pub(crate) queue: PhantomData<&'queue T>,
}

impl<T> Claim<'_, T> {
    /// Puts the event into the place. Wait-free. The caller's earlier acts happen before the
    /// consumer's use of the event.
    #[inline]
    pub fn fill(self, event: T) {
        let claim = ManuallyDrop::new(self);
        // SAFETY: the slot is ours by its claim, and not filled.
        unsafe { claim.block.fill(claim.index, event) };
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `fill`.
        unsafe { self.block.cancel(self.index) };
    }
}

impl<T> fmt::Debug for Claim<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::pauses_after;

    #[test]
    fn one_short_pause_and_then_two_tries_for_each_long_one() {
        let pauses = [1, 2, 3, 4, 5, 6].map(pauses_after);
        assert_eq!(pauses, [32, 128, 0, 128, 0, 128]);
    }
}
