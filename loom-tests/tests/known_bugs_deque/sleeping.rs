//! A biased deque in miniature, and a thief that goes to sleep beside it, with one step left out or
//! out of place.

use filch_models::{Bound, beside_both};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};

use super::biased_miniature::{BiasedMiniature, Bug, Owner};

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
fn sleeping(bug: Bug, is_biased: bool, part: Part) {
    let (deque, mut owner) = BiasedMiniature::new(bug, is_biased, 0);
    let asleep = Arc::new(AtomicBool::new(false));
    let thief = beside_both(&deque, &asleep, move |deque, asleep| {
        let announce = || asleep.store(true, Ordering::Relaxed);
        if bug != Bug::AnnouncedLate {
            announce();
        }
        let looked = bug == Bug::NoSecondLook && !deque.is_empty();
        deque.insist();
        let sees = looked || bug != Bug::NoSecondLook && !deque.is_empty();
        if bug == Bug::AnnouncedLate {
            announce();
        }
        sees
    });
    let is_seen = part(&deque, &mut owner, &|owner| {
        deque.has_shared(owner) && asleep.load(Ordering::Relaxed)
    });
    let sees = thief.join().unwrap();
    assert!(is_seen || sees, "{SYMPTOM}");
}

#[test]
fn a_push_beside_a_sleeper() {
    Bound::exhaustive(100).check_and_refute(
        "biased miniature: a push beside a sleeper",
        |bug| sleeping(bug, true, PUSH),
        &[
            // The thief does not see the push, nor the push that the stop is away.
            (Bug::NoLightFenceInPush, SYMPTOM),
            // The same by the thief's half.
            (Bug::NoHeavyFence, SYMPTOM),
            // The push answers the thief, and finds nobody who sleeps yet.
            (Bug::AnnouncedLate, SYMPTOM),
            // The thief looks before the push, of which nobody has asked to be told.
            (Bug::SleepsWithoutAsking, SYMPTOM),
            // The push is short, and the thief, which has passed no fence, does not see it.
            (Bug::SleepsUnanswered, SYMPTOM),
            // The push is short, between the look and the request.
            (Bug::NoSecondLook, SYMPTOM),
            // The push takes the request down, and tells nobody.
            (Bug::AnsweredInSilence, SYMPTOM),
        ],
    );
}

#[test]
fn a_push_into_a_shared_deque_beside_a_sleeper() {
    Bound::exhaustive(300).check_and_refute(
        "biased miniature, shared: a push beside a sleeper",
        |bug| sleeping(bug, false, PUSH),
        // The owner's load is as old as the thief's of `bottom`.
        &[(Bug::AnsweredByLoad, SYMPTOM)],
    );
}

#[test]
fn taken_back_although_a_thief_has_asked() {
    Bound::exhaustive(20_000).check_and_refute(
        "biased miniature, shared: push, pop, push beside a sleeper",
        |bug| sleeping(bug, false, PUSH_POP_PUSH),
        // The owner pops the last item; the thief asks, and finds nothing; the owner takes the
        // deque back, and its next push is short.
        &[(Bug::BiasedAlthoughAsked, SYMPTOM)],
    );
}

#[test]
fn a_look_beside_nothing_must_not_forget() {
    Bound::exhaustive(29_000).check_and_refute(
        "biased miniature, shared: a look when nothing is left",
        |bug| sleeping(bug, false, PUSH_POP_LOOK_PUSH),
        // The owner answers, pops its item, takes the deque back, and looks for sleepers when it
        // has nothing to tell.
        &[(Bug::SharedForgotten, SYMPTOM)],
    );
}
