//! Stages 2 to 4: the deque of Chase and Lev, without its fence, and with a thief that claims half.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering, fence};

use super::assert_each_once;

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 3.
    NoFence,
    /// Exercise 2: the owner looks at `top` before it lowers `bottom`.
    LooksFirst,
    /// Exercise 3: only the owner has a fence.
    OneFence,
    /// Exercise 4: the owner's pop exchanges `top` for itself.
    SameTop,
}

// ANCHOR: deque
/// After Lê and others (`PPoPP` 2013); the ring does not grow.
struct ChaseLev {
    bug: Bug,
    top: AtomicU32,
    bottom: AtomicU32,
    slots: [AtomicU32; 4],
}

impl ChaseLev {
    /// Takes the youngest item: the owner's end.
    fn pop(&self) -> Option<u32> {
        let last = self.bottom.load(Ordering::Relaxed).checked_sub(1)?;
        let top = self.lower(last);
        if top < last {
            return Some(self.slot(last)); // more than one item: no thief gets that far
        }
        self.bottom.store(last + 1, Ordering::Relaxed);
        let won = top == last && self.claim(top, 1);
        won.then(|| self.slot(last))
    }

    /// Lowers `bottom`, then looks how far thieves are.
    fn lower(&self, last: u32) -> u32 {
        // ANCHOR_END: deque
        if self.bug == Bug::LooksFirst {
            let top = self.top.load(Ordering::Acquire);
            self.bottom.store(last, Ordering::Release);
            return top;
        }
        // ANCHOR: deque
        self.bottom.store(last, Ordering::Release);
        self.owner_fence();
        // ANCHOR_END: deque
        if self.bug == Bug::SameTop {
            return self.top.fetch_add(0, Ordering::AcqRel);
        }
        // ANCHOR: deque
        self.top.load(Ordering::Acquire)
    }

    /// Takes the oldest items: `share` says how many of those that the thief sees.
    fn steal(&self, share: fn(u32) -> u32) -> Vec<u32> {
        let top = self.top.load(Ordering::Acquire);
        self.thief_fence();
        let bottom = self.bottom.load(Ordering::Acquire);
        let count = share(bottom.saturating_sub(top));
        let copies = (top..top + count).map(|index| self.slot(index)).collect();
        let won = count > 0 && self.claim(top, count);
        if won { copies } else { Vec::new() }
    }

    fn claim(&self, top: u32, count: u32) -> bool {
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let claim = self.top.compare_exchange(top, top + count, ok, failed);
        claim.is_ok()
    }
    // ANCHOR_END: deque

    fn with_items(bug: Bug, count: u32) -> Self {
        Self {
            bug,
            top: AtomicU32::new(0),
            bottom: AtomicU32::new(count),
            slots: std::array::from_fn(|item| AtomicU32::new(item as u32)),
        }
    }

    fn slot(&self, index: u32) -> u32 {
        self.slots[index as usize].load(Ordering::Relaxed)
    }

    fn owner_fence(&self) {
        if self.bug != Bug::NoFence {
            fence(Ordering::SeqCst);
        }
    }

    fn thief_fence(&self) {
        if self.bug != Bug::OneFence {
            self.owner_fence();
        }
    }
}

/// The owner pops `count` items while a thief steals twice.
fn race(bug: Bug, count: u32, share: fn(u32) -> u32) {
    let deque = Arc::new(ChaseLev::with_items(bug, count));
    let thief = beside(&deque, move |deque| {
        [deque.steal(share), deque.steal(share)].concat()
    });
    let own: Vec<_> = std::iter::from_fn(|| deque.pop()).collect();
    assert_each_once(count, own.into_iter().chain(thief.join().unwrap()));
}

const ONE: fn(u32) -> u32 = |seen| seen.min(1);
const HALF: fn(u32) -> u32 = |seen| seen / 2;
const TWICE: &str = "handed out twice";

#[test]
fn stage_2_one_by_one_is_sound() {
    Bound::exhaustive(2_000).check("tour 2: Chase and Lev", || race(Bug::None, 2, ONE));
}

#[test]
fn exercise_2_the_owner_lowers_before_it_looks() {
    let claim = "tour 2: an owner that looks first";
    Bound::preemptions(3, 1).refute(claim, TWICE, || race(Bug::LooksFirst, 2, ONE));
}

/// The owner lowers `bottom` to 1 and reads that `top` is 0: no compare-and-swap. The thief has
/// item 0, and reads that `bottom` is 2: it claims item 1 as well. Each has read the value before
/// the other's store, which takes no other order of what happens: only weak memory.
#[test]
fn stage_3_without_the_fence_an_item_has_two_takers() {
    let claim = "tour 3: Chase and Lev without the fences";
    Bound::preemptions(3, 1).refute(claim, TWICE, || race(Bug::NoFence, 2, ONE));
}

#[test]
fn exercise_3_one_fence_is_none() {
    let claim = "tour 3: a fence for the owner alone";
    Bound::preemptions(3, 1).refute(claim, TWICE, || race(Bug::OneFence, 2, ONE));
}

/// The thief sees four items and copies items 0 and 1. The owner pops 3, 2 and then 1: `top` is
/// still 0, below 1, so it needs no compare-and-swap. The thief's one from 0 to 2 succeeds: item 1
/// has two takers. Nothing here is reordered, so sequential consistency does not help.
#[test]
fn stage_4_half_by_one_cas_hands_an_item_out_twice() {
    let claim = "tour 4: Chase and Lev whose thief claims half";
    Bound::preemptions(3, 1).refute(claim, TWICE, || race(Bug::None, 4, HALF));
}

/// The owner's read-modify-write puts it in one order with the thief's claim, but the thief's
/// comparison does not notice it.
#[test]
fn exercise_4_an_exchange_for_the_same_is_not_noticed() {
    let claim = "tour 4: a pop that exchanges `top` for itself";
    Bound::preemptions(3, 1).refute(claim, TWICE, || race(Bug::SameTop, 4, HALF));
}
