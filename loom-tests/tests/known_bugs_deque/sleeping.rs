//! A biased deque in miniature, and a thief that goes to sleep beside it, with one step left out or
//! out of place.

use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

use crate::biased_miniature::{BiasedMiniature, Bug, Owner};

const SYMPTOM: &str = "asleep beside an item";

/// The owner's part beside a sleeper. It asks by the closure whether it sees the sleeper.
type Part = fn(&BiasedMiniature, &mut Owner, &dyn Fn(&mut Owner) -> bool) -> bool;

/// A push, and a look for sleepers.
const PUSH: Part = |deque, owner, sees| {
    deque.push(owner, 0);
    sees(owner)
};

/// The same, then a pop and another push.
const PUSH_POP_PUSH: Part = |deque, owner, sees| {
    deque.push(owner, 0);
    let seen = sees(owner);
    deque.pop(owner);
    deque.push(owner, 0);
    sees(owner) || seen
};

/// A push and a pop; a look for sleepers when nothing is left; another push.
const PUSH_POP_LOOK_PUSH: Part = |deque, owner, sees| {
    deque.push(owner, 0);
    deque.pop(owner);
    let seen = sees(owner);
    deque.push(owner, 0);
    sees(owner) || seen
};

/// Two threads: an owner whose part ends with a push, and a thief that says that it sleeps,
/// insists, and looks. One of the two must see the other.
fn sleeping(bug: Bug, is_biased: bool, part: Part) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (deque, mut owner) = BiasedMiniature::new(bug, is_biased, 0);
        let asleep = Arc::new(AtomicBool::new(false));
        let thief = thread::spawn({
            let (deque, asleep) = (deque.clone(), asleep.clone());
            move || {
                asleep.store(true, Ordering::Relaxed);
                deque.insist();
                !deque.is_empty()
            }
        });
        let is_seen = part(&deque, &mut owner, &|owner| {
            deque.has_shared(owner) && asleep.load(Ordering::Relaxed)
        });
        let sees = thief.join().unwrap();
        assert!(is_seen || sees, "asleep beside an item");
    }
}

#[test]
fn the_biased_miniature_misses_no_sleeper() {
    check(
        "biased miniature: a push beside a sleeper",
        Bound::exhaustive(100),
        sleeping(Bug::None, true, PUSH),
    );
}

#[test]
fn the_shared_miniature_misses_no_sleeper() {
    check(
        "biased miniature, shared: a push beside a sleeper",
        Bound::exhaustive(300),
        sleeping(Bug::None, false, PUSH),
    );
}

#[test]
fn the_miniature_that_changes_hands_misses_no_sleeper() {
    check(
        "biased miniature, shared: push, pop, push beside a sleeper",
        Bound::exhaustive(20_000),
        sleeping(Bug::None, false, PUSH_POP_PUSH),
    );
}

#[test]
fn the_miniature_that_looks_late_misses_no_sleeper() {
    check(
        "biased miniature, shared: a look when nothing is left",
        Bound::exhaustive(29_000),
        sleeping(Bug::None, false, PUSH_POP_LOOK_PUSH),
    );
}

/// The thief does not see the push, nor the push that the stop is away.
#[test]
fn without_a_light_fence_in_push_a_sleeper_is_missed() {
    refute(
        "biased: no light fence in push",
        SYMPTOM,
        Bound::preemptions(4, 1),
        sleeping(Bug::NoLightFenceInPush, true, PUSH),
    );
}

/// The same by the thief's half.
#[test]
fn without_the_heavy_fence_a_sleeper_is_missed() {
    refute(
        "biased: no heavy fence beside a sleeper",
        SYMPTOM,
        Bound::preemptions(4, 1),
        sleeping(Bug::NoHeavyFence, true, PUSH),
    );
}

/// The owner pops the last item; the thief asks, and finds nothing; the owner takes the deque back,
/// and its next push is short.
#[test]
fn taken_back_although_a_thief_has_asked_a_sleeper_is_missed() {
    refute(
        "biased: taken back although asked",
        SYMPTOM,
        Bound::preemptions(4, 1),
        sleeping(Bug::BiasedAlthoughAsked, false, PUSH_POP_PUSH),
    );
}

/// The owner's load is as old as the thief's of `bottom`.
#[test]
fn answered_by_a_load_a_sleeper_is_missed() {
    refute(
        "biased: answered without an exchange",
        SYMPTOM,
        Bound::preemptions(4, 1),
        sleeping(Bug::AnsweredByLoad, false, PUSH),
    );
}

/// The owner answers, pops its item, takes the deque back, and looks for sleepers when it has
/// nothing to tell.
#[test]
fn a_look_beside_nothing_must_not_forget() {
    refute(
        "biased: what was shared is forgotten",
        SYMPTOM,
        Bound::preemptions(4, 1),
        sleeping(Bug::SharedForgotten, false, PUSH_POP_LOOK_PUSH),
    );
}
