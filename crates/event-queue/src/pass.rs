//! One pass of the consumer over the slots that were claimed when it began.

use crate::block::Block;
use crate::content::{Content, Full};
use crate::position::Position;
use crate::producers::Producers;

/// Where a pass stands. Plain data; the consumer's alone.
///
/// The pass looks at each slot between the head and `limit` once, in claiming order, takes those
/// that are full and passes over the rest. It never looks behind `limit`: see the essay for what
/// would overtake what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Before the next slot to look at.
    at: Position,
    /// Where the tail was when the pass began.
    limit: Position,
    /// What is not taken before `at`; `None`: nothing, `at` itself is the head.
    holes: Option<Holes>,
}

/// What a pass remembers of slots that it, or an earlier one, passed over. Which ones they are is
/// noted in the blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holes {
    /// Before the oldest slot that is not emptied.
    head: Position,
    /// Address of the last block that the pass left behind with something in it; 0: none.
    behind: usize,
    /// Whether the pass has passed over something in the block where it is.
    here: bool,
}

impl Holes {
    /// None seen yet, by a pass that begins at `head`.
    const fn from(head: Position) -> Self {
        Self {
            head,
            behind: 0,
            here: false,
        }
    }
}

impl Pass {
    /// At `head`, the oldest slot that is not emptied, and not yet allowed to go anywhere. `holes`:
    /// a slot behind the head may be emptied.
    pub(crate) const fn new(head: Position, holes: bool) -> Self {
        Self {
            at: head,
            limit: head,
            holes: if holes { Some(Holes::from(head)) } else { None },
        }
    }

    pub(crate) const fn at(&self) -> Position {
        self.at
    }

    /// Whether slots behind the head may be emptied: then the pass is kept until the next call.
    pub(crate) const fn has_holes(&self) -> bool {
        self.holes.is_some()
    }

    /// Sets the limit: where the tail was, a moment ago.
    pub(crate) const fn go_on_to(&mut self, limit: Position) {
        self.limit = limit;
    }

    /// The event of the oldest slot, if that is full and the pass at its block: no limit is needed
    /// where nothing is passed over.
    ///
    /// # Safety
    /// The caller is the consumer, and no other pass has moved since this one began.
    #[inline]
    pub(crate) unsafe fn follow<T>(&mut self) -> Option<T> {
        if self.holes.is_some() {
            return None;
        }
        while self.at.left() > 0 {
            let next = self.at.next();
            // SAFETY: the head's block is live, and acquired: the head is moved to a block only
            // by a pass with a limit. The caller is the consumer, and from the head on nothing is
            // emptied.
            match unsafe { Block::<T>::at(next.block()).look(next.left()) } {
                Content::Empty => return None,
                Content::Void => self.at = next,
                Content::Event(event) => {
                    self.at = next;
                    // SAFETY: found just now.
                    return Some(unsafe { event.take() });
                }
            }
        }
        None
    }

    /// The next full slot, which the caller must empty before it goes on.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail of `producers`, and no other
    /// pass has moved since this one began.
    #[inline]
    pub(crate) unsafe fn next<T>(&mut self, producers: &Producers<T>) -> Option<Full<T>> {
        if self.at == self.limit {
            return None;
        }
        if self.holes.is_none() && self.at.left() > 0 {
            let next = self.at.next();
            let block = Block::<T>::at(next.block());
            // SAFETY: as in `look`. What is not an event is looked at again there.
            if let Content::Event(event) = unsafe { block.look(next.left()) } {
                self.at = next;
                return Some(event);
            }
        }
        // SAFETY: as ours.
        unsafe { self.look(producers) }
    }

    /// As `next`: where there are holes, void slots, and blocks' ends.
    ///
    /// # Safety
    /// As for `next`.
    #[inline(never)]
    unsafe fn look<T>(&mut self, producers: &Producers<T>) -> Option<Full<T>> {
        while self.at != self.limit {
            if self.at.left() == 0 {
                // SAFETY: as ours. The limit lies in a later block, because the pass is not over.
                unsafe { self.next_block(producers) };
                continue;
            }
            // A block between the head and the limit is live: only the consumer takes blocks out of
            // use, and only those that it passed.
            let block = Block::<T>::at(self.at.block());
            let before = self.at;
            self.at = before.next();
            let index = self.at.left();
            // SAFETY: live, see above; the caller is the consumer. Installed before the limit,
            // which was acquired; not emptied, as there are either no holes, so everything from
            // `before` on is untouched, or it is noted.
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

    /// Moves the head over what was emptied behind it, where this pass has found no hole. If that
    /// is everything before the limit, forgets that there were holes.
    ///
    /// # Safety
    /// As for `next`.
    pub(crate) unsafe fn settle<T>(&mut self, producers: &Producers<T>) {
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
                let Content::Void = content else { return };
                holes.head = next;
                self.at = next;
            }
        }
    }

    /// The oldest slot that is not emptied.
    pub(crate) const fn head(&self) -> Position {
        match &self.holes {
            Some(holes) => holes.head,
            None => self.at,
        }
    }

    /// Goes on to the first slot of the next block, and takes the block it leaves out of use if
    /// that is spent.
    ///
    /// # Safety
    /// As for `next`, and `at.block` is not the limit's block.
    unsafe fn next_block<T>(&mut self, producers: &Producers<T>) {
        let end = self.at;
        let left = end.block();
        // SAFETY: as ours.
        let next = unsafe { self.successor::<T>() };
        // SAFETY: it lies between the head and the limit: live, and its installation acquired.
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
                // SAFETY: `behind` is not spent, so it is live; the caller is the consumer.
                unsafe { Block::<T>::at(holes.behind).set_next(next) };
            }
        }
        // SAFETY: spent, so all producers are done with it. The head or the link before it now
        // leads past it; the tail has left it for good, as it has a successor.
        unsafe { producers.retire(block) };
    }

    /// Address of the block after `at.block`. Producers link backwards only; the first time, this
    /// turns all links between the limit and `at.block` around, so that each block is walked over
    /// once.
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
        // consumer has never seen: none is spent, all are live, and no two have the same address.
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
