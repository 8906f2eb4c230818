//! One pass of the consumer over the slots that were claimed when it began.

use crate::block::Block;
use crate::content::{Content, Full};
use crate::position::Position;
use crate::producers::Producers;

/// Where a pass stands. Plain data; the consumer's alone.
///
/// The pass looks at each slot between the head and `limit` once, in claiming order, takes the full
/// ones and passes over the rest. It never looks behind `limit`: an event from there could overtake
/// an earlier one ([`algorithm`](crate::algorithm)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<const ALL_WIDE: bool> {
    /// Before the next slot to look at.
    at: Position<ALL_WIDE>,
    /// Where the tail was when the pass began.
    limit: Position<ALL_WIDE>,
    /// The slots before `at` that are not taken; `None`: there are none, and `at` is the head.
    holes: Option<Holes<ALL_WIDE>>,
}

/// What a pass remembers of the slots that it, or an earlier one, passed over. The states in the
/// blocks say which slots these are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holes<const ALL_WIDE: bool> {
    /// Before the oldest slot that is not emptied.
    head: Position<ALL_WIDE>,
    /// Address of the last block with a hole that the pass left behind; 0: none.
    behind: usize,
    /// Whether the pass has passed over a slot of the block where it is.
    here: bool,
}

impl<const ALL_WIDE: bool> Holes<ALL_WIDE> {
    /// For a pass that begins at `head`, and has seen no hole yet.
    const fn from(head: Position<ALL_WIDE>) -> Self {
        Self {
            head,
            behind: 0,
            here: false,
        }
    }
}

impl<const ALL_WIDE: bool> Pass<ALL_WIDE> {
    /// A pass at `head`, the oldest slot that is not emptied, with its limit there too. `holes`: a
    /// slot behind the head may be emptied.
    pub(crate) const fn new(head: Position<ALL_WIDE>, holes: bool) -> Self {
        Self {
            at: head,
            limit: head,
            holes: if holes { Some(Holes::from(head)) } else { None },
        }
    }

    pub(crate) const fn at(&self) -> Position<ALL_WIDE> {
        self.at
    }

    /// Whether slots behind the head may be emptied. Such a pass is kept until the next call.
    pub(crate) const fn has_holes(&self) -> bool {
        self.holes.is_some()
    }

    /// Sets the limit to a snapshot of the tail.
    pub(crate) const fn go_on_to(&mut self, limit: Position<ALL_WIDE>) {
        self.limit = limit;
    }

    /// The next full slot, which the caller must empty before it goes on.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail of `producers`, and no other
    /// pass has moved since this one began.
    #[inline]
    pub(crate) unsafe fn next<T>(&mut self, producers: &Producers<T, ALL_WIDE>) -> Option<Full<T>> {
        if self.at == self.limit {
            return None;
        }
        if self.holes.is_none() && self.at.left() > 0 {
            let next = self.at.next();
            let block = Block::<T>::at(next.block());
            // SAFETY: as in `look`, which looks again if this is no event.
            if let Content::Event(event) = unsafe { block.look(next.left()) } {
                self.at = next;
                return Some(event);
            }
        }
        // SAFETY: as ours.
        unsafe { self.look(producers) }
    }

    /// The rest of `next`: holes, cancelled slots, and the ends of blocks.
    ///
    /// # Safety
    /// As for `next`.
    #[inline(never)]
    unsafe fn look<T>(&mut self, producers: &Producers<T, ALL_WIDE>) -> Option<Full<T>> {
        while self.at != self.limit {
            if self.at.left() == 0 {
                // The next block's first slot was claimed with its installation, so it lies before
                // the limit.
                // SAFETY: as ours. The limit lies in a later block, because the pass is not over.
                unsafe { self.next_block(producers) };
            }
            // A block between the head and the limit is live: only the consumer takes blocks out of
            // use, and only blocks that it has passed.
            let block = Block::<T>::at(self.at.block());
            let before = self.at;
            self.at = before.next();
            let index = self.at.left();
            // SAFETY: live, see above; the caller is the consumer. Installed before the limit,
            // which was acquired. If there are no holes, no slot from `before` on is emptied; if
            // there are, an emptied slot is noted.
            let content = unsafe { block.look(index) };
            if let Content::Empty = content {
                self.holes.get_or_insert(Holes::from(before)).here = true;
                continue;
            }
            if let Some(holes) = &mut self.holes {
                if holes.head == before {
                    holes.head = self.at;
                } else {
                    // SAFETY: as above.
                    unsafe { block.set_taken(index) };
                }
            }
            if let Content::Event(event) = content {
                return Some(event);
            }
        }
        None
    }

    /// If this pass has found no hole, moves the head over the slots that are emptied behind it. If
    /// these are all slots before the limit, forgets that there were holes.
    ///
    /// # Safety
    /// As for `next`.
    pub(crate) unsafe fn settle<T>(&mut self, producers: &Producers<T, ALL_WIDE>) {
        while let Some(holes) = &mut self.holes
            && holes.head == self.at
        {
            if self.at == self.limit {
                self.holes = None;
            } else if self.at.left() == 0 {
                // SAFETY: as ours. The limit lies in a later block, because the pass is not over.
                unsafe { self.next_block(producers) };
            } else {
                let next = self.at.next();
                // SAFETY: as in `look`.
                let content = unsafe { Block::<T>::at(next.block()).look(next.left()) };
                let Content::Done = content else { return };
                holes.head = next;
                self.at = next;
            }
        }
    }

    /// The oldest slot that is not emptied.
    pub(crate) const fn head(&self) -> Position<ALL_WIDE> {
        match &self.holes {
            Some(holes) => holes.head,
            None => self.at,
        }
    }

    /// Goes on to the first slot of the next block, and takes the block that it leaves out of use
    /// if all its slots are taken.
    ///
    /// # Safety
    /// As for `next`, and `at.block` is not the limit's block.
    unsafe fn next_block<T>(&mut self, producers: &Producers<T, ALL_WIDE>) {
        let end = self.at;
        let left = end.block();
        // SAFETY: as ours.
        let next = unsafe { self.successor::<T>() };
        // SAFETY: between the head and the limit: live, and its installation acquired.
        self.at = unsafe { Block::<T>::at(next).start() };
        if left == 0 {
            return;
        }
        let block = Block::<T>::at(left);
        if let Some(holes) = &mut self.holes {
            if core::mem::take(&mut holes.here) {
                holes.behind = left;
                return;
            }
            if holes.head == end {
                holes.head = self.at;
            } else {
                // SAFETY: `behind` has a hole, so it is live; the caller is the consumer.
                unsafe { Block::<T>::at(holes.behind).set_next(next) };
            }
        }
        // SAFETY: all its slots are taken, so all producers are done with it. The head or the link
        // before it now leads past it; the tail has left it for good, as it has a successor.
        unsafe { producers.retire(block) };
    }

    /// Address of the block after `at.block`. Producers link backwards only. If the block is not
    /// linked forwards yet, this turns around all links between it and the limit, so that the
    /// consumer walks back over each block once.
    ///
    /// # Safety
    /// As for `next_block`.
    unsafe fn successor<T>(&self) -> usize {
        let from = self.at.block();
        if from != 0 {
            // SAFETY: between the head and the limit, so live; the caller is the consumer.
            let known = unsafe { Block::<T>::at(from).next() };
            if known != 0 {
                return known;
            }
        }
        // `from` is the newest block that is linked, so the walk meets only blocks that the
        // consumer has never seen: all are live, and no two have the same address.
        let mut block = self.limit.block();
        loop {
            // SAFETY: live, see above; installed before the limit, which the caller acquired.
            let prev = unsafe { Block::<T>::at(block).prev() };
            if prev != 0 {
                // SAFETY: `from` or a block of the walk; live. The caller is the consumer.
                unsafe { Block::<T>::at(prev).set_next(block) };
            }
            if prev == from {
                return block;
            }
            block = prev;
        }
    }
}
