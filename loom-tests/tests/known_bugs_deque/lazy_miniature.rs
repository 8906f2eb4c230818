//! The lazy protocol, cut down.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use loom_tests::Crossing;

use crate::TAG;

/// What is wrong with a [`LazyMiniature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    /// The owner lowers `split` by half and takes that half, without a look at how far thieves are.
    NotClamped,
    /// If thieves are past the lowered `split`, the owner leaves it there.
    NotRaised,
    /// The owner sets the stops, and publishes after that.
    SetBeforePublishing,
    /// The owner does not look whether what is public is still there.
    NoSecondLook,
    /// The owner sets the stops without a look at what they were.
    SetBlindly,
    /// A thief moves the owner's other stop first.
    FloorFirst,
    /// A thief that takes the last public item does not ask.
    LastTakerSilent,
}

pub(crate) const SLOTS: usize = 4;

/// A stop where the owner has set it, and where a thief moves it.
const SET: u8 = 0;
const ASKED: u8 = 1;

/// Our lazy protocol, cut down: all items are there before the thieves look.
pub(crate) struct LazyMiniature {
    bug: Bug,
    pub(crate) top: AtomicU64,
    pub(crate) split: AtomicU32,
    /// A push that finds it moved settles.
    limit: AtomicU8,
    /// A pop that finds it moved settles.
    floor: AtomicU8,
    /// For loom.
    pub(crate) crossing: Crossing,
}

/// What the owner knows. Item `i` is the number `i`, so no slots are needed.
pub(crate) struct Owner {
    pub(crate) bottom: u32,
    pub(crate) split: u32,
}

impl LazyMiniature {
    pub(crate) fn new(bug: Bug, public: u32) -> Arc<Self> {
        Arc::new(Self {
            bug,
            top: AtomicU64::new(0),
            split: AtomicU32::new(public),
            limit: AtomicU8::new(SET),
            floor: AtomicU8::new(SET),
            crossing: Crossing::new(),
        })
    }

    fn publish(&self, owner: &mut Owner, split: u32) {
        owner.split = split;
        self.split.store(split, Ordering::Release);
    }

    /// What a push does besides.
    pub(crate) fn at_push(&self, owner: &mut Owner) {
        if self.limit.load(Ordering::Relaxed) == ASKED {
            self.settle(owner);
        }
    }

    /// What a pop does besides, if it does not end what is private.
    pub(crate) fn at_pop(&self, owner: &mut Owner) {
        if self.floor.load(Ordering::Relaxed) == ASKED {
            self.settle(owner);
        }
    }

    /// The end of the long way of a push or a pop.
    pub(crate) fn settle(&self, owner: &mut Owner) {
        let taken = || self.top.load(Ordering::Relaxed) as u32;
        loop {
            let is_all_private = owner.split == taken();
            if is_all_private && owner.split == owner.bottom {
                self.set(ASKED);
                return;
            }
            let half = match is_all_private {
                true => owner.split + (owner.bottom - owner.split).div_ceil(2),
                false => owner.split,
            };
            if self.bug != Bug::SetBeforePublishing {
                self.publish(owner, half);
                self.crossing.pass();
            }
            let was_asked = self.set(SET);
            if self.bug == Bug::SetBeforePublishing {
                self.crossing.pass();
                self.publish(owner, half);
            }
            if !was_asked || self.bug == Bug::NoSecondLook || taken() != half {
                return;
            }
        }
    }

    /// Sets the stops. Whether a thief had asked.
    fn set(&self, stop: u8) -> bool {
        self.floor.store(stop, Ordering::Relaxed);
        if self.bug == Bug::SetBlindly {
            self.limit.store(stop, Ordering::Release);
            return false;
        }
        self.limit.swap(stop, Ordering::AcqRel) == ASKED
    }

    pub(crate) fn pop(&self, owner: &mut Owner) -> Option<u32> {
        if owner.split == owner.bottom && !self.reclaim(owner) {
            return None;
        }
        owner.bottom -= 1;
        Some(owner.bottom)
    }

    fn reclaim(&self, owner: &mut Owner) -> bool {
        let split = owner.split;
        let public = split.saturating_sub(self.top.load(Ordering::Relaxed) as u32);
        if public == 0 {
            return false;
        }
        let lower = split - public.div_ceil(2);
        self.publish(owner, lower);
        let reached = self.top.fetch_add(TAG, Ordering::Release) as u32;
        if reached > lower {
            match self.bug {
                Bug::NotClamped => {}
                // It takes what it should, but thieves find nothing from now on.
                Bug::NotRaised => owner.split = reached,
                _ => self.publish(owner, reached),
            }
        }
        reached < split
    }

    pub(crate) fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        let index = top as u32;
        let split = self.split.load(Ordering::Acquire);
        if split.wrapping_sub(index) as i32 <= 0 {
            return None;
        }
        self.top
            .compare_exchange(top, top + 1, Ordering::Release, Ordering::Relaxed)
            .ok()?;
        if index + 1 == split && self.bug != Bug::LastTakerSilent {
            self.ask();
        }
        Some(index)
    }

    pub(crate) fn ask(&self) {
        if self.bug == Bug::FloorFirst {
            self.floor.store(ASKED, Ordering::Relaxed);
            self.crossing.pass();
        }
        self.limit.swap(ASKED, Ordering::AcqRel);
        if self.bug != Bug::FloorFirst {
            self.floor.store(ASKED, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let index = self.top.load(Ordering::Acquire) as u32;
        self.split.load(Ordering::Acquire).wrapping_sub(index) as i32 <= 0
    }
}
