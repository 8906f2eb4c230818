//! A biased deque in miniature, and thieves that rob its owner, with one step left out or out of
//! place; and the shipped one without its heavy fence.

use filch_deque::{Request, Worker};
use filch_sync::asymmetric::WITHOUT_HEAVY;
use filch_sync::thread;
use loom_tests::{Bound, check, refute};

use crate::assert_each_once;
use crate::biased_miniature::{BiasedMiniature, Bug, Owner};

const SYMPTOM: &str = "handed out twice";

/// The deque at first, and each one's part.
#[derive(Clone, Copy)]
struct Scenario {
    is_biased: bool,
    /// Items that are there at first.
    items: u32,
    /// Items that there are at all.
    all: u32,
    thieves: usize,
    /// `true` if they insist, `false` if they take what they are given.
    insist: bool,
    /// The owner's part: the items that it popped.
    part: fn(&BiasedMiniature, &mut Owner) -> Vec<u32>,
}

/// The owner has two items of its own, and pops them.
const POPS: Scenario = Scenario {
    is_biased: true,
    items: 2,
    all: 2,
    thieves: 1,
    insist: true,
    part: |deque, owner| pop(deque, owner, 2),
};

/// The same of three: the first pop answers a thief, the second takes the deque back, and the third
/// is short.
const POPS_THREE: Scenario = Scenario {
    items: 3,
    all: 3,
    part: |deque, owner| pop(deque, owner, 3),
    ..POPS
};

/// The same beside two thieves.
const POPS_BESIDE_TWO: Scenario = Scenario { thieves: 2, ..POPS };

/// The owner has one item of its own, pushes another, and pops both.
const PUSHES_AND_POPS: Scenario = Scenario {
    items: 1,
    part: |deque, owner| {
        deque.push(owner, 1);
        pop(deque, owner, 2)
    },
    ..POPS
};

/// The owner has two items of its own, and pops them beside a thief that does not insist.
const POPS_IN_PEACE: Scenario = Scenario {
    insist: false,
    ..POPS
};

/// Three items are shared, and the owner pops them: the first time it takes the deque back.
const TAKES_BACK: Scenario = Scenario {
    is_biased: false,
    ..POPS_THREE
};

/// Two items are shared. The owner pops both, the second one the short way, and shares again. The
/// thief does not ask.
const TAKES_BACK_AND_SHARES: Scenario = Scenario {
    is_biased: false,
    insist: false,
    part: |deque, owner| {
        let popped = pop(deque, owner, 2);
        deque.share(owner);
        popped
    },
    ..POPS
};

fn pop(deque: &BiasedMiniature, owner: &mut Owner, count: usize) -> Vec<u32> {
    (0..count).filter_map(|_| deque.pop(owner)).collect()
}

/// The owner plays its part, and thieves try, twice each; then the owner pops what is left. An item
/// with two takers or none fails it.
fn robbing(bug: Bug, scenario: Scenario) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (deque, mut owner) = BiasedMiniature::new(bug, scenario.is_biased, scenario.items);
        let thieves: Vec<_> = (0..scenario.thieves)
            .map(|_| {
                let deque = deque.clone();
                thread::spawn(move || -> Vec<u32> {
                    let attempt = |_| {
                        deque.crossing.pass();
                        if scenario.insist {
                            deque.insist();
                        }
                        deque.steal()
                    };
                    (0..2).filter_map(attempt).collect()
                })
            })
            .collect();
        deque.crossing.pass();
        let popped = (scenario.part)(&deque, &mut owner);
        let stolen = thieves.into_iter().flat_map(|thief| thief.join().unwrap());
        let stolen: Vec<_> = stolen.collect();
        let rest = std::iter::from_fn(|| deque.pop(&mut owner));
        assert_each_once(scenario.all, popped.into_iter().chain(stolen).chain(rest));
    }
}

#[test]
fn the_biased_miniature_pops_soundly() {
    check(
        "biased miniature: pops",
        Bound::preemptions(4, 5_200),
        robbing(Bug::None, POPS),
    );
}

#[test]
fn the_biased_miniature_pops_three_soundly() {
    check(
        "biased miniature: three pops",
        Bound::preemptions(4, 15_000),
        robbing(Bug::None, POPS_THREE),
    );
}

#[test]
fn the_biased_miniature_bears_two_thieves() {
    check(
        "biased miniature: two thieves",
        Bound::preemptions(3, 89_000),
        robbing(Bug::None, POPS_BESIDE_TWO),
    );
}

#[test]
fn the_biased_miniature_pushes_soundly() {
    check(
        "biased miniature: pushes and pops",
        Bound::preemptions(4, 23_000),
        robbing(Bug::None, PUSHES_AND_POPS),
    );
}

#[test]
fn the_biased_miniature_keeps_what_nobody_insists_on() {
    check(
        "biased miniature: pops in peace",
        Bound::exhaustive(0),
        robbing(Bug::None, POPS_IN_PEACE),
    );
}

#[test]
fn the_biased_miniature_is_taken_back_soundly() {
    check(
        "biased miniature: taken back",
        Bound::preemptions(4, 7_700),
        robbing(Bug::None, TAKES_BACK),
    );
}

#[test]
fn the_biased_miniature_is_shared_again_soundly() {
    check(
        "biased miniature: taken back and shared",
        Bound::preemptions(4, 1_700),
        robbing(Bug::None, TAKES_BACK_AND_SHARES),
    );
}

/// The thief has moved the stops and looks; the owner pops, and its load of the stop is as old as
/// the thief's of `bottom`.
#[test]
fn without_the_heavy_fence_an_item_is_handed_out_twice() {
    refute(
        "biased: no heavy fence",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::NoHeavyFence, POPS),
    );
}

/// The same, by the owner's half.
#[test]
fn without_a_light_fence_in_pop_an_item_is_handed_out_twice() {
    refute(
        "biased: no light fence in pop",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::NoLightFenceInPop, POPS),
    );
}

/// Between the exchange and the stops a thief asks, and moves them; the owner sets them, and its
/// next pop goes by them.
#[test]
fn stops_set_after_the_exchange_hide_a_thief() {
    refute(
        "biased: stops set after the exchange",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::StopsAfterBiasing, TAKES_BACK),
    );
}

/// The thief looks at a shared deque with one item. The owner takes the deque back, pops the item
/// the short way, and shares again: the word is what it was.
#[test]
fn without_a_new_tag_a_claim_survives_the_owners_time() {
    refute(
        "biased: no new tag",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::NoNewTag, TAKES_BACK_AND_SHARES),
    );
}

/// The thief asks, and passes its fence. The owner answers, and takes the deque back. The thief
/// shares it nevertheless, and the owner's stops are not away.
#[test]
fn an_old_fence_says_nothing_of_a_new_tag() {
    refute(
        "biased: a fence trusted in the next epoch",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::OldFenceTrusted, POPS_THREE),
    );
}

/// The thief moves the stops. The owner finds that nobody has asked, and sets them anew. Then the
/// thief asks.
#[test]
fn stops_moved_before_asking_come_back() {
    refute(
        "biased: stops moved before asking",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::StopsBeforeAsking, PUSHES_AND_POPS),
    );
}

/// One thief has asked, and is slow to move the stops. Another one passes its fence, and shares.
#[test]
fn a_second_thief_moves_the_stops_itself() {
    refute(
        "biased: stops left to the first thief",
        SYMPTOM,
        Bound::preemptions(3, 1),
        robbing(Bug::SecondAskerTrusts, POPS_BESIDE_TWO),
    );
}

/// A thief claims an item or asks before the owner's exchange. The deque stays shared, and the
/// owner pops the short way.
#[test]
fn stops_left_in_a_shared_deque_hide_thieves() {
    refute(
        "biased: stops left after a vain exchange",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::StopsLeft, TAKES_BACK),
    );
}

/// The thief looks at a shared deque. The owner pops an item, and the thief's claim of it succeeds.
#[test]
fn a_pop_of_a_shared_deque_without_a_bump_hands_an_item_out_twice() {
    refute(
        "biased: pop of a shared deque without a bump",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::NoBump, TAKES_BACK),
    );
}

/// The thief does not care whose the deque is.
#[test]
fn claims_of_what_is_the_owners_hand_an_item_out_twice() {
    refute(
        "biased: claims in a biased deque",
        SYMPTOM,
        Bound::preemptions(4, 1),
        robbing(Bug::ClaimsInBiased, POPS_IN_PEACE),
    );
}

/// The shipped deque, of which a thief insists while the owner pops.
fn shipped(without_heavy: bool) {
    WITHOUT_HEAVY.set(without_heavy);
    let worker = Worker::biased(2);
    worker.push(0);
    assert_eq!(worker.pop(), Some(0));
    worker.push(0);
    let stealer = worker.stealer();
    let thief = thread::spawn(move || {
        if let Some(request) = stealer.ask() {
            Request::revoke_all(&[request]).unwrap();
        }
        stealer.steal().success()
    });
    let popped = worker.pop();
    let stolen = thief.join().unwrap();
    let left = worker.pop();
    assert_each_once(1, popped.into_iter().chain(stolen).chain(left));
}

#[test]
fn the_shipped_deque_has_its_heavy_fence() {
    check(
        "biased, as shipped: a pop beside a thief",
        Bound::exhaustive(210),
        || shipped(false),
    );
}

#[test]
fn the_shipped_deque_needs_its_heavy_fence() {
    refute(
        "biased, as shipped: no heavy fence",
        SYMPTOM,
        Bound::preemptions(4, 1),
        || shipped(true),
    );
}
