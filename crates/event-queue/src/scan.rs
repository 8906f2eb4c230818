//! One scan of the consumer over the slots that were claimed when it began.

use core::mem;

use crate::block::{Block, State};
use crate::position::Position;
use crate::producers::Producers;

/// The place of a scan. Plain data; the consumer's alone.
///
/// The scan looks at each slot between the head and `limit` once, in claiming order, takes the full
/// ones and passes over those in flight. It never looks behind `limit`: an event from there could
/// overtake an earlier one ([`algorithm`](crate::algorithm)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// Before the next slot to look at.
    at: Position,
    /// The tail as it was when the scan began.
    limit: Position,
    /// The slots in flight before `at`; `None`: there are none, and `at` is the head.
    passed: Option<Passed>,
}

/// The memory of a scan that has passed over slots in flight. The states in the blocks say which
/// slots these are, and which ones behind them are emptied.
#[derive(Clone, Copy, Debug)]
struct Passed {
    /// Before the oldest of them.
    head: Position,
    /// Address of the last block with such a slot that the scan left behind; 0: none.
    behind: usize,
    /// Set if there is one in the block of `at`.
    here: bool,
}

impl Scan {
    /// A scan from `head`, the oldest slot that is not emptied, to `limit`.
    pub(crate) const fn new(head: Position, limit: Position) -> Self {
        Self {
            at: head,
            limit,
            passed: None,
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.at.to_word() == self.limit.to_word()
    }

    pub(crate) const fn has_passed(&self) -> bool {
        self.passed.is_some()
    }

    /// Says whether slots behind the head may be emptied now; `before`: when it began.
    pub(crate) const fn leaves_marks(&self, before: bool) -> bool {
        self.has_passed() || before && !self.is_over()
    }

    /// The place before the oldest slot that is not emptied.
    pub(crate) const fn head(&self) -> Position {
        match &self.passed {
            Some(passed) => passed.head,
            None => self.at,
        }
    }

    /// Goes on behind the next event, and returns that place. The caller must
    /// [take](Block::take) it.
    ///
    /// # Safety
    /// The caller is the consumer; `limit` was acquired from the tail of `producers`, and no other
    /// scan has moved since this one began.
    #[inline]
    pub(crate) unsafe fn next<T>(&mut self, producers: &Producers<T>) -> Option<Position> {
        if self.is_over() {
            return None;
        }
        if self.passed.is_none() && self.at.left() > 0 {
            let next = self.at.next();
            // SAFETY: as in `search`, which looks again if this is no event.
            if unsafe { Block::<T>::at(next.block()).look(next.left()) } == State::Full {
                self.at = next;
                return Some(next);
            }
        }
        // SAFETY: as ours.
        unsafe { self.search(producers) }
    }

    /// Does the rest of `next`: slots in flight, cancelled ones, and the ends of blocks.
    ///
    /// # Safety
    /// As for `next`.
    #[inline(never)]
    unsafe fn search<T>(&mut self, producers: &Producers<T>) -> Option<Position> {
        while !self.is_over() {
            if self.at.left() == 0 {
                // The next block's first slot was claimed with its installation, so it lies before
                // the limit.
                // SAFETY: as ours. The limit lies in a later block, because the scan is not over.
                unsafe { self.next_block(producers) };
            }
            // A block between the head and the limit is live: only the consumer takes blocks out of
            // use, and only blocks that it has passed.
            let block = Block::<T>::at(self.at.block());
            let before = self.at;
            self.at = before.next();
            let index = self.at.left();
            // SAFETY: live, see above; the caller is the consumer. Installed before the limit,
            // which was acquired. A slot behind the head that is emptied is marked.
            let state = unsafe { block.look(index) };
            if state == State::InFlight {
                let first = Passed {
                    head: before,
                    behind: 0,
                    here: true,
                };
                self.passed.get_or_insert(first).here = true;
                continue;
            }
            if self.passed.is_some() {
                // SAFETY: as above.
                unsafe { block.set_taken(index) };
            }
            if state == State::Full {
                return Some(self.at);
            }
        }
        None
    }

    /// Moves over the slots that are done, if the head is here.
    ///
    /// # Safety
    /// As for `next`.
    pub(crate) unsafe fn settle<T>(&mut self, producers: &Producers<T>) {
        while self.passed.is_none() && !self.is_over() {
            if self.at.left() == 0 {
                // SAFETY: as ours. The limit lies in a later block, because the scan is not over.
                unsafe { self.next_block(producers) };
            }
            let next = self.at.next();
            // SAFETY: as in `search`.
            if unsafe { Block::<T>::at(next.block()).look(next.left()) } != State::Done {
                return;
            }
            self.at = next;
        }
    }

    /// Goes on to the first slot of the next block, and takes the block that it leaves out of use
    /// if all its slots are emptied.
    ///
    /// # Safety
    /// As for `next`, and `at.block` is not the limit's block.
    unsafe fn next_block<T>(&mut self, producers: &Producers<T>) {
        let left = self.at.block();
        // SAFETY: as ours.
        let next = unsafe { self.successor::<T>() };
        // SAFETY: between the head and the limit: live, and its installation acquired.
        self.at = unsafe { Block::<T>::at(next).start() };
        if left == 0 {
            return;
        }
        if let Some(passed) = &mut self.passed {
            if mem::take(&mut passed.here) {
                passed.behind = left;
                return;
            }
            // SAFETY: `behind` has a slot in flight, so it is live; the caller is the consumer.
            unsafe { Block::<T>::at(passed.behind).set_next(next) };
        }
        // SAFETY: all its slots are emptied, so all producers are done with it. The head or the
        // link before it now leads past it; the tail has left it for good, as it has a successor.
        unsafe { producers.retire(Block::at(left)) };
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
