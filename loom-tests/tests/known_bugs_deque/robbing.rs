//! A biased deque in miniature, and thieves that rob its owner, with one step left out or out of
//! place; and the shipped one without its heavy fence.

use filch_deque::{Request, Worker};
use filch_models::{Bound, beside};
use filch_sync::asymmetric::WITHOUT_HEAVY;
use filch_sync::thread;

use super::biased_miniature::{BiasedMiniature, Bug, Owner};
use crate::tour::assert_each_once;

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

/// The owner has two items of its own. It pops one, shares the other, and pops that, too. The thief
/// does not ask.
const POPS_SHARES_AND_POPS: Scenario = Scenario {
    insist: false,
    part: |deque, owner| {
        let mut popped = pop(deque, owner, 1);
        deque.share(owner);
        popped.extend(pop(deque, owner, 1));
        popped
    },
    ..POPS
};

fn pop(deque: &BiasedMiniature, owner: &mut Owner, count: usize) -> Vec<u32> {
    (0..count).filter_map(|_| deque.pop(owner)).collect()
}

/// The owner plays its part, and thieves try, twice each; then the owner pops what is left. An item
/// with two takers or none fails it.
fn robbing(bug: Bug, scenario: Scenario) {
    let (deque, mut owner) = BiasedMiniature::new(bug, scenario.is_biased, scenario.items);
    let thieves: Vec<_> = (0..scenario.thieves)
        .map(|_| {
            beside(&deque, move |deque| -> Vec<u32> {
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

#[test]
fn the_biased_miniature_pops() {
    Bound::preemptions(4, 5_200).check_and_refute(
        "biased miniature: pops",
        |bug| robbing(bug, POPS),
        &[
            // The thief has moved the stops and looks; the owner pops, and its load of the stop is
            // as old as the thief's of `bottom`.
            (Bug::NoHeavyFence, SYMPTOM),
            // The same, by the owner's half.
            (Bug::NoLightFenceInPop, SYMPTOM),
        ],
    );
}

#[test]
fn the_biased_miniature_pops_three() {
    Bound::preemptions(4, 15_000).check_and_refute(
        "biased miniature: three pops",
        |bug| robbing(bug, POPS_THREE),
        // The thief asks, and passes its fence. The owner answers, and takes the deque back. The
        // thief shares it nevertheless, and the owner's stops are not away.
        &[(Bug::OldFenceTrusted, SYMPTOM)],
    );
}

#[test]
fn the_biased_miniature_bears_two_thieves() {
    Bound::preemptions(3, 89_000).check_and_refute(
        "biased miniature: two thieves",
        |bug| robbing(bug, POPS_BESIDE_TWO),
        // One thief has asked, and is slow to move the stops. Another one passes its fence, and
        // shares.
        &[(Bug::SecondAskerTrusts, SYMPTOM)],
    );
}

#[test]
fn the_biased_miniature_pushes() {
    Bound::preemptions(4, 23_000).check_and_refute(
        "biased miniature: pushes and pops",
        |bug| robbing(bug, PUSHES_AND_POPS),
        // The thief moves the stops. The owner finds that nobody has asked, and sets them anew.
        // Then the thief asks.
        &[(Bug::StopsBeforeAsking, SYMPTOM)],
    );
}

#[test]
fn the_biased_miniature_keeps_what_nobody_insists_on() {
    Bound::exhaustive(0).check_and_refute(
        "biased miniature: pops in peace",
        |bug| robbing(bug, POPS_IN_PEACE),
        // The thief does not care whose the deque is.
        &[(Bug::ClaimsInBiased, SYMPTOM)],
    );
}

#[test]
fn the_biased_miniature_is_shared() {
    Bound::exhaustive(6_800).check_and_refute(
        "biased miniature: shared between two pops",
        |bug| robbing(bug, POPS_SHARES_AND_POPS),
        // The thief claims the shared item, and the owner pops it the short way.
        &[(Bug::SharedWithStops, SYMPTOM)],
    );
}

#[test]
fn the_biased_miniature_is_taken_back() {
    Bound::preemptions(4, 7_700).check_and_refute(
        "biased miniature: taken back",
        |bug| robbing(bug, TAKES_BACK),
        &[
            // Between the exchange and the stops a thief asks, and moves them; the owner sets them,
            // and its next pop goes by them.
            (Bug::StopsAfterBiasing, SYMPTOM),
            // A thief claims an item or asks before the owner's exchange. The deque stays shared,
            // and the owner pops the short way.
            (Bug::StopsLeft, SYMPTOM),
            // The thief looks at a shared deque. The owner pops an item, and the thief's claim of
            // it succeeds.
            (Bug::NoBump, SYMPTOM),
        ],
    );
}

#[test]
fn the_biased_miniature_is_shared_again() {
    Bound::preemptions(4, 1_700).check_and_refute(
        "biased miniature: taken back and shared",
        |bug| robbing(bug, TAKES_BACK_AND_SHARES),
        // The thief looks at a shared deque with one item. The owner takes the deque back, pops the
        // item the short way, and shares again: the word is what it was.
        &[(Bug::NoNewTag, SYMPTOM)],
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
fn the_shipped_deque_needs_its_heavy_fence() {
    Bound::exhaustive(210).check("biased, as shipped: a pop beside a thief", || {
        shipped(false);
    });
    Bound::preemptions(4, 1).refute("biased, as shipped: no heavy fence", SYMPTOM, || {
        shipped(true);
    });
}
