//! The lazy protocol in miniature, with one step left out or out of place.

use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

use crate::assert_each_once;
use crate::lazy_miniature::{Bug, LazyMiniature, Owner, SLOTS};

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

/// Two threads: four private items. The owner publishes some, unasked, and then asks who sleeps; a
/// thief says that it sleeps, demands some, and looks. One of the two must see the other.
fn sleeping(bug: Bug) -> impl Fn() + Send + Sync + 'static {
    move || {
        let deque = LazyMiniature::new(bug, 0);
        let asleep = Arc::new(AtomicBool::new(false));
        let thief = thread::spawn({
            let (deque, asleep) = (deque.clone(), asleep.clone());
            move || {
                asleep.store(true, Ordering::Relaxed);
                deque.crossing.pass();
                deque.ask();
                !deque.is_empty()
            }
        });
        let mut owner = Owner {
            bottom: SLOTS as u32,
            split: 0,
        };
        deque.crossing.pass();
        deque.settle(&mut owner);
        let is_seen = asleep.load(Ordering::Relaxed);
        let sees = thief.join().unwrap();
        assert!(is_seen || sees, "asleep beside an item");
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
        Bound::preemptions(3, 500),
        asking(Bug::None, 3),
    );
}

#[test]
fn the_lazy_miniature_answers_at_a_push() {
    check(
        "lazy miniature: requests, answered by a push",
        Bound::preemptions(3, 400),
        asking_beside(Bug::None, 3, LazyMiniature::at_push),
    );
}

#[test]
fn the_lazy_miniature_misses_no_sleeper() {
    check(
        "lazy miniature: a publication beside a sleeper",
        Bound::exhaustive(50),
        sleeping(Bug::None),
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

/// Before the owner's exchange the thief takes what is public, and asks for more. The exchange
/// takes the request away.
#[test]
fn without_a_second_look_a_request_is_lost() {
    refute(
        "no look whether the answer is still there",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::NoSecondLook, 3),
    );
}

/// The thief demands something between the two steps, and sees nothing yet; the owner has its
/// exchange behind it, and does not learn of the thief.
#[test]
fn set_before_publishing_a_sleeper_is_missed() {
    refute(
        "stops set before the answer",
        "asleep beside an item",
        Bound::preemptions(4, 1),
        sleeping(Bug::SetBeforePublishing),
    );
}

/// The owner's store hides the thief's exchange: neither has read what the other one wrote.
#[test]
fn set_blindly_a_sleeper_is_missed() {
    refute(
        "stops set without an exchange, beside a sleeper",
        "asleep beside an item",
        Bound::preemptions(4, 1),
        sleeping(Bug::SetBlindly),
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

/// The thief has the last public item, and the owner works on its private ones for ever. The next
/// thief finds nothing.
#[test]
fn a_silent_last_taker_leaves_nothing_in_reach() {
    refute(
        "the last taker does not ask",
        "a thief starves",
        Bound::preemptions(4, 1),
        asking(Bug::LastTakerSilent, 1),
    );
}
