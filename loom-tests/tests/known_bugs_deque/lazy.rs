//! The lazy protocol in miniature, with one step left out or out of place.

use filch_sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Crossing, check, refute};

use crate::{TAG, assert_each_once};

/// What is wrong with a [`LazyMiniature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The owner lowers `split` by half and takes that half, without a look at how far thieves are.
    NotClamped,
    /// If thieves are past the lowered `split`, the owner leaves it there.
    NotRaised,
    /// The owner answers a request, and sets the stops after that.
    SetAfterPublishing,
    /// The owner sets the stops without a look at what they were.
    SetBlindly,
    /// A thief moves the owner's other stop first.
    FloorFirst,
    /// A thief that takes the last public item does not ask.
    LastTakerSilent,
    /// Thieves never ask.
    NobodyAsks,
}

const SLOTS: usize = 4;

/// A stop where the owner has set it, and where a thief moves it.
const SET: u8 = 0;
const ASKED: u8 = 1;

/// Our lazy protocol, cut down: all items are there before the thieves look.
struct LazyMiniature {
    bug: Bug,
    top: AtomicU64,
    split: AtomicU32,
    /// A push that finds it moved settles.
    limit: AtomicU8,
    /// A pop that finds it moved settles.
    floor: AtomicU8,
    /// For loom.
    crossing: Crossing,
}

/// What the owner knows. Item `i` is the number `i`, so no slots are needed.
struct Owner {
    bottom: u32,
    split: u32,
}

impl LazyMiniature {
    fn new(bug: Bug, public: u32) -> Arc<Self> {
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
    fn at_push(&self, owner: &mut Owner) {
        if self.limit.load(Ordering::Relaxed) == ASKED {
            self.settle(owner);
        }
    }

    /// What a pop does besides, if it does not end what is private.
    fn at_pop(&self, owner: &mut Owner) {
        if self.floor.load(Ordering::Relaxed) == ASKED {
            self.settle(owner);
        }
    }

    /// The end of the long way of a push or a pop.
    fn settle(&self, owner: &mut Owner) {
        let mut asked = self.limit.load(Ordering::Relaxed) == ASKED;
        loop {
            if asked && owner.split == owner.bottom {
                return self.limit.store(ASKED, Ordering::Relaxed);
            }
            let half = match asked {
                true => owner.split + (owner.bottom - owner.split).div_ceil(2),
                false => owner.split,
            };
            if self.bug == Bug::SetAfterPublishing {
                self.publish(owner, half);
                self.crossing.pass();
            }
            self.floor.store(SET, Ordering::Relaxed);
            let before = match self.bug {
                Bug::SetBlindly => {
                    self.limit.store(SET, Ordering::Release);
                    SET
                }
                _ => self.limit.swap(SET, Ordering::Release),
            };
            if before == ASKED && !asked {
                asked = true;
                continue;
            }
            if self.bug != Bug::SetAfterPublishing {
                self.publish(owner, half);
            }
            return;
        }
    }

    fn pop(&self, owner: &mut Owner) -> Option<u32> {
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

    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        let index = top as u32;
        let split = self.split.load(Ordering::Acquire);
        if split.wrapping_sub(index) as i32 <= 0 {
            self.ask();
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

    fn ask(&self) {
        if self.bug == Bug::NobodyAsks || self.limit.load(Ordering::Relaxed) == ASKED {
            return;
        }
        if self.bug == Bug::FloorFirst {
            self.floor.store(ASKED, Ordering::Relaxed);
            self.crossing.pass();
        }
        self.limit.swap(ASKED, Ordering::Acquire);
        if self.bug != Bug::FloorFirst {
            self.floor.store(ASKED, Ordering::Relaxed);
        }
    }
}

/// Two threads: four public items; a thief takes up to three while the owner pops, and reclaims
/// half. Then the owner pops the rest.
fn reclaiming(bug: Bug) -> impl Fn() + Send + Sync + 'static {
    move || {
        let deque = LazyMiniature::new(bug, 4);
        let thief = thread::spawn({
            let deque = deque.clone();
            move || -> Vec<u32> {
                let attempt = |_| {
                    deque.crossing.pass();
                    deque.steal()
                };
                (0..3).filter_map(attempt).collect()
            }
        });
        let mut owner = Owner {
            bottom: SLOTS as u32,
            split: SLOTS as u32,
        };
        deque.crossing.pass();
        let popped = deque.pop(&mut owner);
        let stolen = thief.join().unwrap();
        let shown = deque.split.load(Ordering::Relaxed);
        let reached = deque.top.load(Ordering::Relaxed) as u32;
        let rest = std::iter::from_fn(|| deque.pop(&mut owner));
        assert_each_once(4, popped.into_iter().chain(stolen).chain(rest));
        assert!(shown >= reached, "split left behind the thieves");
    }
}

/// Two threads: one public item and three private ones. A thief makes `attempts`, until one fails.
/// The owner goes the long way beside it, whether it is asked or not, and comes by once when the
/// thief is gone. If nothing is public afterwards, nothing may be private either. Otherwise thieves
/// starve as long as the owner has items.
fn asking(bug: Bug, attempts: u32) -> impl Fn() + Send + Sync + 'static {
    asking_beside(bug, attempts, LazyMiniature::at_pop)
}

/// The same; what the owner does when the thief is gone is `later`.
fn asking_beside(
    bug: Bug,
    attempts: u32,
    later: fn(&LazyMiniature, &mut Owner),
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let deque = LazyMiniature::new(bug, 1);
        let thief = thread::spawn({
            let deque = deque.clone();
            move || {
                for _ in 0..attempts {
                    deque.crossing.pass();
                    if deque.steal().is_none() {
                        break;
                    }
                }
            }
        });
        let mut owner = Owner {
            bottom: SLOTS as u32,
            split: 1,
        };
        deque.crossing.pass();
        deque.settle(&mut owner);
        thief.join().unwrap();
        later(&deque, &mut owner);
        let reached = deque.top.load(Ordering::Relaxed) as u32;
        assert!(
            owner.split > reached || owner.split == owner.bottom,
            "a thief starves"
        );
    }
}

#[test]
fn the_lazy_miniature_reclaims_soundly() {
    check(
        "lazy miniature: reclaiming half",
        Bound::preemptions(4, 600),
        reclaiming(Bug::None),
    );
}

#[test]
fn the_lazy_miniature_answers() {
    check(
        "lazy miniature: requests, answered by a pop",
        Bound::exhaustive(50),
        asking(Bug::None, 3),
    );
}

#[test]
fn the_lazy_miniature_answers_at_a_push() {
    check(
        "lazy miniature: requests, answered by a push",
        Bound::exhaustive(50),
        asking_beside(Bug::None, 3, LazyMiniature::at_push),
    );
}

/// Thieves took three of four items. The owner wanted two back, and takes both.
#[test]
fn without_a_look_at_the_thieves_an_item_is_handed_out_twice() {
    refute(
        "reclaim without clamping",
        "handed out twice",
        Bound::preemptions(4, 1),
        reclaiming(Bug::NotClamped),
    );
}

/// Thieves are past the lowered `split`. They see a shortfall of several items, which they cannot
/// tell from a ring that is being replaced.
#[test]
fn a_split_left_behind_confuses_thieves() {
    refute(
        "reclaim without raising the split again",
        "split left behind the thieves",
        Bound::preemptions(4, 1),
        reclaiming(Bug::NotRaised),
    );
}

/// Between the two steps the thief takes what was published, and asks for more. Then the owner
/// takes that for the request that it has just answered.
#[test]
fn set_after_publishing_a_request_is_lost() {
    refute(
        "stops set after the answer",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::SetAfterPublishing, 3),
    );
}

/// The thief asks between the owner's look and its store.
#[test]
fn set_blindly_a_request_is_lost() {
    refute(
        "stops set without an exchange",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::SetBlindly, 1),
    );
}

/// The owner sets its stops between the thief's two stores, sees no request yet, and its pops never
/// hear of it.
#[test]
fn with_the_floor_first_pops_hear_of_nothing() {
    refute(
        "floor moved before limit",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::FloorFirst, 1),
    );
}

/// The thief has the last public item and does not come back for another. The next thief finds
/// nothing.
#[test]
fn a_silent_last_taker_leaves_nothing_in_reach() {
    refute(
        "the last taker does not ask",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::LastTakerSilent, 1),
    );
}

/// The owner works on its private items for ever, and never hears that there are thieves.
#[test]
fn where_nobody_asks_thieves_starve() {
    refute(
        "no requests",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::NobodyAsks, 3),
    );
}
