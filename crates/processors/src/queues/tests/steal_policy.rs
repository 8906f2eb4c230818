//! The policy on a victim's only task, and the choice of a victim.

use filch_deque::{Sole, Worker};

use crate::queues::find_work::{QUICK, Random, SEARCHES_IN_VAIN, StealMode, StealPolicy};
use crate::stats::Counter;

/// The victim's only task.
fn sole(worker: &Worker<u32>) -> Sole {
    worker.stealer().sole().expect("there is one")
}

#[test]
fn a_task_is_spared_until_it_is_found_again() {
    let (policy, run) = (StealPolicy::default(), Counter::default());
    let worker = Worker::new();
    worker.push(1);
    let spares = |mode| policy.spares(mode, 7, sole(&worker), &run);
    policy.begin_search();
    policy.begin_round();
    assert!(spares(StealMode::Spare), "not seen before");
    assert!(spares(StealMode::Spare), "however often");
    assert!(!spares(StealMode::SpareOnce), "the same one");
    worker.pop();
    worker.push(2);
    assert!(spares(StealMode::SpareOnce), "another one");
    assert!(!spares(StealMode::SpareOnce), "and again");
    assert!(policy.has_spared());
    policy.begin_round();
    assert!(!policy.has_spared() && !policy.is_quick(7, &run));
}

#[test]
fn only_a_quick_victim_that_was_spared_is_watched() {
    let (policy, run) = (StealPolicy::default(), Counter::default());
    let worker = Worker::new();
    worker.push(1);
    policy.begin_search();
    assert!(!policy.is_quick(7, &run), "not spared yet");
    policy.spares(StealMode::Spare, 7, sole(&worker), &run);
    run.add(QUICK - 1);
    assert!(!policy.is_quick(7, &run));
    let all = || [0; 9].into_iter();
    assert!(policy.ends_in_vain(all(), |_| true).is_empty());
    run.add(1);
    assert!(policy.is_quick(7, &run) && !policy.is_quick(8, &run));
    assert!(
        policy.ends_in_vain(all(), |_| false).is_empty(),
        "another does"
    );
    let watched = policy.ends_in_vain(all(), |_| true);
    assert!(watched.len() == 1 && watched[0].victim == 7);
}

/// A failure: a thief goes on searching in vain for ever, or watches one that has rested.
#[test]
fn who_makes_a_thief_search_in_vain_is_watched() {
    let policy = StealPolicy::default();
    let search = |run: u64| {
        policy.begin_search();
        policy.ends_in_vain([run, 7].into_iter(), |_| true)
    };
    let nothing = |run| assert!(search(run).is_empty(), "after {run}");
    (0..4).for_each(nothing);
    policy.has_found();
    (4..8).for_each(nothing);
    let watched = search(8);
    assert!(watched.len() == 1 && watched[0].victim == 0 && watched[0].run == 8);
    (9..9 + u64::from(SEARCHES_IN_VAIN)).for_each(nothing);
}

#[test]
fn b3_every_victim_gets_its_turn() {
    for seed in 0..8 {
        let random = Random::new(seed);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[random.below(7)] += 1;
        }
        assert!(
            seen.iter().all(|&times| (800..1200).contains(&times)),
            "{seen:?}"
        );
    }
}
