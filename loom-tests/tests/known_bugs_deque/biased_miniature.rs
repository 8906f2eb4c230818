//! The protocol of a biased deque, cut down.

use filch_models::Crossing;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use filch_sync::cell::UnsafeCell;

use super::TAG;

/// The bug of a [`BiasedMiniature`], by the step of the deque's ALGORITHM.md that it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bug {
    #[default]
    None,
    // 1. Push.
    /// A push loads its stop without a fence after its store.
    NoLightFenceInPush,
    // 2. Pop.
    /// A pop loads its stop without a fence after its store.
    NoLightFenceInPop,
    /// A pop of a shared deque leaves the tag as it is.
    NoBump,
    // 3. Share.
    /// An owner that shares leaves the stops as they are.
    SharedWithStops,
    /// A push into a shared deque loads the word, and does not exchange it if nobody has asked.
    AnsweredByLoad,
    /// An owner takes a request down, and does not look who sleeps.
    AnsweredInSilence,
    /// A look for sleepers that finds the deque empty forgets what has been shared.
    SharedForgotten,
    // 4. Bias.
    /// The owner begins the epoch in which the deque is its own, and sets the stops after that.
    StopsAfterBiasing,
    /// An owner that could not take the deque back leaves the stops as it has set them.
    StopsLeft,
    /// The epoch in which the deque is the owner's has the tag of the one before.
    NoNewTag,
    /// The owner takes back a deque of which a thief has asked.
    BiasedAlthoughAsked,
    // 5. Claim.
    /// A thief claims items of a deque that is its owner's.
    ClaimsInBiased,
    // 6. Ask.
    /// A thief moves the stops first, and asks then.
    StopsBeforeAsking,
    /// A second thief that asks leaves the stops to the first.
    SecondAskerTrusts,
    // 7. Revoke.
    /// A thief passes no fence between moving the stops and its look.
    NoHeavyFence,
    /// A thief shares the deque in the owner's place whatever epoch it is by then.
    OldFenceTrusted,
    // 8. Sleep.
    /// A thief looks, and says after that that it sleeps.
    AnnouncedLate,
    /// A thief that goes to sleep asks nobody.
    SleepsWithoutAsking,
    /// A thief that goes to sleep asks, and looks without an answer.
    SleepsUnanswered,
    /// A thief that goes to sleep looks, asks and insists, and does not look again.
    NoSecondLook,
}

const ASKED: u64 = 1;
const SHARED: u64 = 2;
/// Added to the word, it claims an item.
const NEXT: u64 = 4;

const SLOTS: usize = 4;

/// Stops in the way of no position, and of each.
const NO_FLOOR: u32 = u32::MAX;
const NO_LIMIT: u32 = 0;

/// Our protocol for a deque that may be its owner's, cut down: a ring that neither grows nor turns.
pub(crate) struct BiasedMiniature {
    bug: Bug,
    top: AtomicU64,
    bottom: AtomicU32,
    limit: AtomicU32,
    floor: AtomicU32,
    slots: [UnsafeCell<u32>; SLOTS],
    /// For loom.
    pub(crate) crossing: Crossing,
}

// SAFETY: loom checks who touches the slots, which is what these models are about.
unsafe impl Sync for BiasedMiniature {}

/// The owner's knowledge.
pub(crate) struct Owner {
    bottom: u32,
    reached: u32,
    is_biased: bool,
    has_shared: bool,
}

fn index(top: u64) -> u32 {
    top as u32 / NEXT as u32
}

impl BiasedMiniature {
    /// A deque with the items `0..items`, and its owner.
    pub(crate) fn new(bug: Bug, is_biased: bool, items: u32) -> (Arc<Self>, Owner) {
        let (flags, limit, floor) = match is_biased {
            true => (0, SLOTS as u32 + 1, 0),
            false => (SHARED, NO_LIMIT, NO_FLOOR),
        };
        let deque = Self {
            bug,
            top: AtomicU64::new(flags),
            bottom: AtomicU32::new(items),
            limit: AtomicU32::new(limit),
            floor: AtomicU32::new(floor),
            slots: std::array::from_fn(|item| UnsafeCell::new(item as u32)),
            crossing: Crossing::new(),
        };
        let owner = Owner {
            bottom: items,
            reached: 0,
            is_biased,
            has_shared: false,
        };
        (Arc::new(deque), owner)
    }

    fn read(&self, index: u32) -> u32 {
        // SAFETY: the caller has the item, or loom says so.
        self.slots[index as usize].with(|slot| unsafe { *slot })
    }

    fn light(&self, is_left_out: bool) {
        if !is_left_out {
            fence(Ordering::SeqCst);
        }
    }

    fn set_bottom(&self, owner: &mut Owner, bottom: u32) {
        owner.bottom = bottom;
        self.bottom.store(bottom, Ordering::Release);
    }

    fn set_stops(&self, limit: u32, floor: u32) {
        self.floor.store(floor, Ordering::Relaxed);
        self.limit.store(limit, Ordering::Relaxed);
    }

    fn move_stops(&self) {
        self.set_stops(NO_LIMIT, NO_FLOOR);
    }

    // The owner.

    pub(crate) fn push(&self, owner: &mut Owner, item: u32) {
        // SAFETY: nobody else has the slot, or loom says so.
        self.slots[owner.bottom as usize].with_mut(|slot| unsafe { *slot = item });
        self.set_bottom(owner, owner.bottom + 1);
        self.light(self.bug == Bug::NoLightFenceInPush);
        if owner.bottom >= self.limit.load(Ordering::Relaxed) {
            let top = self.top.load(Ordering::Relaxed);
            let is_owners = owner.is_biased && top & (SHARED | ASKED) == 0;
            if !(is_owners && self.bias(owner, top)) {
                self.share_now(owner);
            }
        }
    }

    pub(crate) fn pop(&self, owner: &mut Owner) -> Option<u32> {
        let last = owner.bottom.checked_sub(1)?;
        self.set_bottom(owner, last);
        self.light(self.bug == Bug::NoLightFenceInPop);
        let is_there = last >= self.floor.load(Ordering::Relaxed) || self.reclaim(owner, last);
        is_there.then(|| self.read(last))
    }

    fn reclaim(&self, owner: &mut Owner, last: u32) -> bool {
        let known = owner.reached;
        if known > last {
            self.set_bottom(owner, known);
            return false;
        }
        let top = match self.bug {
            Bug::NoBump => self.top.load(Ordering::Relaxed),
            _ => self.top.fetch_add(TAG, Ordering::Release) + TAG,
        };
        owner.reached = index(top);
        let is_there = owner.reached <= last;
        if !is_there {
            self.set_bottom(owner, owner.reached);
        }
        let may_bias = top & ASKED == 0 || self.bug == Bug::BiasedAlthoughAsked;
        if owner.is_biased {
            self.share_now(owner);
        } else if owner.reached == known && may_bias {
            self.bias(owner, top);
        }
        is_there
    }

    fn bias(&self, owner: &mut Owner, top: u64) -> bool {
        let reached = index(top);
        let tag = if self.bug == Bug::NoNewTag { 0 } else { TAG };
        let biased = (top + tag) & !(SHARED | ASKED);
        let set = || self.set_stops(SLOTS as u32 + 1, reached);
        if self.bug != Bug::StopsAfterBiasing {
            set();
        }
        let exchange = self
            .top
            .compare_exchange(top, biased, Ordering::Release, Ordering::Relaxed);
        if exchange.is_ok() {
            owner.is_biased = true;
            owner.reached = reached;
            if self.bug == Bug::StopsAfterBiasing {
                self.crossing.pass();
                set();
            }
        } else if self.bug != Bug::StopsLeft {
            self.move_stops();
        }
        exchange.is_ok()
    }

    pub(crate) fn share(&self, owner: &mut Owner) {
        if owner.is_biased {
            self.share_now(owner);
        }
    }

    fn share_now(&self, owner: &mut Owner) {
        if std::mem::take(&mut owner.is_biased) {
            if self.bug != Bug::SharedWithStops {
                self.move_stops();
            }
            self.top.fetch_or(SHARED, Ordering::Release);
        }
        if !self.is_empty_for(owner) {
            let is_asked = || self.top.load(Ordering::Acquire) & ASKED != 0;
            if self.bug != Bug::AnsweredByLoad || is_asked() {
                self.top.fetch_and(!ASKED, Ordering::AcqRel);
            }
            owner.has_shared = self.bug != Bug::AnsweredInSilence;
        }
    }

    fn is_empty_for(&self, owner: &Owner) -> bool {
        owner.bottom == index(self.top.load(Ordering::Relaxed))
    }

    /// Returns whether the owner has to look who sleeps.
    pub(crate) fn has_shared(&self, owner: &mut Owner) -> bool {
        let is_due = owner.has_shared && !self.is_empty_for(owner);
        if is_due || self.bug == Bug::SharedForgotten {
            owner.has_shared = false;
        }
        is_due
    }

    // A thief.

    fn ask(&self) -> u64 {
        if self.bug == Bug::StopsBeforeAsking {
            self.move_stops();
            self.crossing.pass();
            return self.top.fetch_or(ASKED, Ordering::AcqRel) | ASKED;
        }
        let top = self.top.fetch_or(ASKED, Ordering::AcqRel);
        let trusts = self.bug == Bug::SecondAskerTrusts && top & ASKED != 0;
        if top & SHARED == 0 && !trusts {
            self.move_stops();
        }
        top | ASKED
    }

    /// Asks, and shares the deque in the owner's place.
    pub(crate) fn insist(&self) {
        if self.bug == Bug::SleepsWithoutAsking {
            return;
        }
        let asked = self.ask();
        if asked & SHARED != 0 || self.bug == Bug::SleepsUnanswered {
            return;
        }
        if self.bug != Bug::NoHeavyFence {
            fence(Ordering::SeqCst);
        }
        if self.bug == Bug::OldFenceTrusted {
            self.crossing.pass();
            self.top.fetch_or(SHARED, Ordering::Release);
            return;
        }
        let shared = asked | SHARED;
        let _ = self
            .top
            .compare_exchange(asked, shared, Ordering::Release, Ordering::Relaxed);
    }

    pub(crate) fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        if top & SHARED == 0 && self.bug != Bug::ClaimsInBiased {
            return None;
        }
        let bottom = self.bottom.load(Ordering::Acquire);
        if bottom <= index(top) {
            return None;
        }
        self.top
            .compare_exchange(top, top + NEXT, Ordering::Release, Ordering::Relaxed)
            .ok()?;
        Some(self.read(index(top)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        let top = self.top.load(Ordering::Acquire);
        self.bottom.load(Ordering::Relaxed) <= index(top)
    }
}
