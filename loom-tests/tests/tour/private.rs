//! Stage 8: a deque that is its owner's until a thief asks.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::assert_each_once;

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 8: the thief moves the stop away, and goes on.
    NoHeavyFence,
    /// Exercise 8: the compiler, or whoever wrote the pop, has its load before its store.
    NoLightFence,
    /// The thief passes its fence first, and moves the stop away then.
    FenceFirst,
}

/// `top` is `{tag: 32, index: 31, shared: 1}`.
const TAG: u64 = 1 << 32;
const NEXT: u64 = 2;
const SHARED: u64 = 1;

struct Deque {
    bug: Bug,
    top: AtomicU64,
    bottom: AtomicU32,
    /// The owner pops down to it without a word to anybody.
    floor: AtomicU32,
}

impl Deque {
    // ANCHOR: pop
    fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(Ordering::Relaxed);
        let last = bottom.checked_sub(1)?;
        if self.lower(last) {
            return Some(last); // a store, a load and a compare
        }
        let top = self.top.fetch_add(TAG, Ordering::AcqRel); // as in stage 5
        if index(top) <= last {
            return Some(last);
        }
        self.bottom.store(bottom, Ordering::Release);
        None
    }

    /// Lowers `bottom`, then looks if the deque is still the owner's down to there.
    fn lower(&self, last: u32) -> bool {
        // ANCHOR_END: pop
        if self.bug == Bug::NoLightFence {
            let floor = self.floor.load(Ordering::Relaxed);
            self.bottom.store(last, Ordering::Release);
            return last >= floor;
        }
        // ANCHOR: pop
        self.bottom.store(last, Ordering::Release);
        light_fence(); // no instruction: it holds the compiler
        last >= self.floor.load(Ordering::Relaxed)
    }
    // ANCHOR_END: pop

    // ANCHOR: revoke
    /// Makes the deque everybody's, without waiting for its owner.
    fn revoke(&self) {
        let top = self.top.load(Ordering::Acquire);
        // ANCHOR_END: revoke
        if self.bug == Bug::FenceFirst {
            heavy_fence();
        }
        // ANCHOR: revoke
        self.floor.store(u32::MAX, Ordering::Relaxed); // from now on, `top` decides
        self.heavy_fence();
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let _ = self.top.compare_exchange(top, top | SHARED, ok, failed);
    }
    // ANCHOR_END: revoke

    fn heavy_fence(&self) {
        if !matches!(self.bug, Bug::NoHeavyFence | Bug::FenceFirst) {
            heavy_fence();
        }
    }

    // ANCHOR: steal
    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        let bottom = self.bottom.load(Ordering::Acquire);
        if top & SHARED == 0 || index(top) >= bottom {
            return None;
        }
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let claim = self.top.compare_exchange(top, top + NEXT, ok, failed);
        claim.is_ok().then_some(index(top))
    }
    // ANCHOR_END: steal
}

fn index(top: u64) -> u32 {
    top as u32 / NEXT as u32
}

/// In a model, the two are what they are worth together: loom has no fence that costs one side
/// nothing.
fn light_fence() {
    fence(Ordering::SeqCst);
}

fn heavy_fence() {
    fence(Ordering::SeqCst);
}

/// The owner has two items and pops them; a thief revokes, and steals twice.
fn race(bug: Bug) {
    let deque = Arc::new(Deque {
        bug,
        top: AtomicU64::new(0),
        bottom: AtomicU32::new(2),
        floor: AtomicU32::new(0),
    });
    let thief = beside(&deque, |deque| -> Vec<u32> {
        deque.revoke();
        (0..2).filter_map(|_| deque.steal()).collect()
    });
    let own: Vec<_> = (0..2).filter_map(|_| deque.pop()).collect();
    let stolen = thief.join().unwrap();
    let rest = std::iter::from_fn(|| deque.pop());
    assert_each_once(2, own.into_iter().chain(stolen).chain(rest));
}

#[test]
fn stage_8_a_deque_is_its_owners_until_a_thief_revokes_it() {
    Bound::exhaustive(4_000).check_and_refute(
        "tour 8: a deque that is its owner's",
        race,
        &[
            // The owner has lowered `bottom`, reads the old stop and has the item; the thief reads
            // the old `bottom`, and claims the item.
            (Bug::NoHeavyFence, "handed out twice"),
            // The same by the order of the program: the owner's look comes before its store.
            (Bug::NoLightFence, "handed out twice"),
            // The owner's look may come after the fence and before the store.
            (Bug::FenceFirst, "handed out twice"),
        ],
    );
}
