//! The free indices: Treiber's stack, threaded through the slots' links, with a tag against ABA.

use filch_sync::CachePadded;
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The end of the list: no slot has this index.
const NONE: u32 = u32::MAX;

/// On top of a list that its owner has retired: no slot has this index, either.
const RETIRED: u32 = NONE - 1;

/// The most slots that a slab can have.
pub(crate) const MOST: u32 = RETIRED;

/// The word at the top of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Top {
    /// Counts pushes, so that an index which was popped and pushed again is not mistaken for the
    /// same top.
    tag: u32,
    /// The index on top, or `NONE`.
    index: u32,
}

impl Top {
    const fn pack(self) -> u64 {
        ((self.tag as u64) << 32) | self.index as u64
    }

    const fn unpack(word: u64) -> Self {
        Self {
            tag: (word >> 32) as u32,
            index: word as u32,
        }
    }
}

/// A stack of indices. The caller says where the link of an index is; links never move or vanish.
#[derive(Debug)]
pub(crate) struct FreeList {
    top: CachePadded<AtomicU64>,
}

impl FreeList {
    pub(crate) fn new() -> Self {
        let empty = Top {
            tag: 0,
            index: NONE,
        };
        Self {
            top: CachePadded::new(AtomicU64::new(empty.pack())),
        }
    }

    /// Returns whether the list has an index at this moment.
    #[inline]
    pub(crate) fn has_one(&self) -> bool {
        // ORDERING: Relaxed: nothing is read through the index.
        Top::unpack(self.top.load(Ordering::Relaxed)).index != NONE
    }

    /// Puts a chain of indices on top, or returns false if the list is [retired](Self::retire).
    /// Each link leads to the next index; `last` is the link of the last one. Lock-free.
    ///
    /// Everything that the caller did before happens before the [`pop`](Self::pop) that returns one
    /// of them, or before `retire` returns if that comes first.
    pub(crate) fn push(&self, first: u32, last: &AtomicU32) -> bool {
        // ORDERING: Relaxed: nothing is read through this index; a stale top only fails the
        // exchange.
        let mut top = Top::unpack(self.top.load(Ordering::Relaxed));
        while top.index != RETIRED {
            // ORDERING: Relaxed: the exchange below publishes it. A `pop` that read an earlier top
            // may look at the link meanwhile; the tag fails its exchange, so what it reads does not
            // matter.
            last.store(top.index, Ordering::Relaxed);
            let pushed = Top {
                tag: top.tag.wrapping_add(1),
                index: first,
            };
            // ORDERING: success Release: pairs with the Acquire loads of `pop`; publishes the links
            // and whatever the caller did with the slots. Every later change of the word is an RMW,
            // so the edge holds too for a `pop` that finds one of them on top after others came and
            // went. Failure Relaxed: as the load.
            match self.top.compare_exchange_weak(
                top.pack(),
                pushed.pack(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(word) => top = Top::unpack(word),
            }
        }
        false
    }

    /// Takes all indices out, makes every later [`push`](Self::push) fail, and returns how many
    /// there were. Nobody may pop any more.
    pub(crate) fn retire<'a>(&self, link: impl Fn(u32) -> &'a AtomicU32) -> u32 {
        let retired = Top {
            tag: 0,
            index: RETIRED,
        };
        // ORDERING: Acquire, partner of the Release of every `push`: changes of the word are RMWs,
        // so this continues the release sequence of all that are still in force.
        let top = self.top.swap(retired.pack(), Ordering::Acquire);
        let mut index = Top::unpack(top).index;
        let mut indices = 0;
        while index != NONE {
            indices += 1;
            // ORDERING: Relaxed: published with the index, which was acquired.
            index = link(index).load(Ordering::Relaxed);
        }
        indices
    }

    /// Takes the index on top. Lock-free.
    pub(crate) fn pop<'a>(&self, link: impl Fn(u32) -> &'a AtomicU32) -> Option<u32> {
        // ORDERING: Acquire: pairs with the Release of `push`: the link, and for the caller the
        // slot, are seen as the releasing thread left them. Without it a stale link could be
        // installed by a successful exchange.
        let mut top = Top::unpack(self.top.load(Ordering::Acquire));
        while top.index != NONE {
            // The slot may have been taken, used and released again since `top` was read. It is
            // still there, so reading its link is harmless, and each push bumped the tag, so the
            // exchange will fail. ORDERING: Relaxed: if the exchange succeeds, the last store to
            // the link is the one published with this top, which was acquired.
            let below = Top {
                tag: top.tag,
                index: link(top.index).load(Ordering::Relaxed),
            };
            // ORDERING: success Relaxed: the load that found `top` has acquired what this index
            // needs, and being an RMW it hands on the edges of the indices below. Failure Acquire:
            // as the first load.
            match self.top.compare_exchange_weak(
                top.pack(),
                below.pack(),
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(top.index),
                Err(word) => top = Top::unpack(word),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Top;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_top_survives_packing(tag: u32, index: u32) {
            let top = Top { tag, index };
            prop_assert_eq!(Top::unpack(top.pack()), top);
        }
    }
}
