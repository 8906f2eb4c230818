//! Invariants of every world, independent of the model:
//!
//! * children are started in their order, and ended in the reverse order;
//! * within any period there are no more restarts than are allowed;
//! * a temporary child has one life, and a transient one has another only after a failure.
//!
//! `world` itself asserts the others: no child has two lives at once, each request is answered
//! once, and no child is left when the supervisor ends.

use std::collections::{BTreeMap, BTreeSet};

use proptest::strategy::Strategy as _;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::script::{Fact, Script, Time, script};
use super::world::carry_out;
use crate::plan::child::ChildId;
use crate::settings::{Backoff, Restart, Strategy};

/// Removes all requests, but not the end.
fn undisturbed(mut script: Script) -> Script {
    script.requests.clear();
    script
}

/// Returns the times at which each child was started.
fn starts(facts: &[(Time, Fact)]) -> BTreeMap<ChildId, Vec<Time>> {
    let mut starts = BTreeMap::<_, Vec<_>>::new();
    for (time, fact) in facts {
        if let Fact::Start(child) = fact {
            starts.entry(*child).or_default().push(*time);
        }
    }
    starts
}

proptest! {
    #[test]
    fn children_are_started_in_their_order(script in script().prop_map(undisturbed)) {
        let facts = carry_out(&script);
        let started = facts.iter().filter_map(|(_, fact)| match fact {
            Fact::Start(child) => Some(child.0),
            _ => None,
        });
        let first: Vec<u64> = started.take(script.children.len()).collect();
        let in_order: Vec<u64> = (0..first.len() as u64).collect();
        prop_assert_eq!(first, in_order);
    }

    #[test]
    fn they_are_ended_in_the_reverse_order(script in script()) {
        let facts = carry_out(&script);
        if facts.last().map(|(_, fact)| fact) != Some(&Fact::End(Ok(()))) {
            return Ok(());
        }
        // A child that was being ended when the end came is not asked again; one that was being
        // started is the first.
        let mut asked = BTreeSet::new();
        let ends = facts.iter().filter_map(|(time, fact)| match fact {
            Fact::AskToEnd(child) | Fact::Terminate(child) if *time >= script.stop_at => {
                asked.insert(*child).then_some(*child)
            }
            _ => None,
        });
        let ends: Vec<ChildId> = ends.skip(1).collect();
        prop_assert!(ends.is_sorted_by(|one, next| one > next), "{ends:?}");
    }

    #[test]
    fn the_intensity_is_kept(script in script().prop_map(undisturbed)) {
        let mut script = script;
        script.rules.strategy = Strategy::OneForOne;
        script.rules.backoff = Backoff::NONE;
        let facts = carry_out(&script);
        let restarts = starts(&facts).into_values().flat_map(|times| times.into_iter().skip(1));
        let mut restarts: Vec<Time> = restarts.collect();
        restarts.sort_unstable();
        let period = script.rules.intensity.period.as_nanos() as Time;
        for (number, first) in restarts.iter().enumerate() {
            let within = restarts[number..].iter().filter(|&&time| time - first <= period);
            prop_assert!(within.count() <= script.rules.intensity.restarts);
        }
    }

    #[test]
    fn some_are_not_restarted(script in script().prop_map(undisturbed)) {
        let mut script = script;
        script.rules.strategy = Strategy::OneForOne;
        for (child, times) in starts(&carry_out(&script)) {
            let lives_that_were_followed = 0..times.len() - 1;
            match script.children[child.0 as usize].restart {
                Restart::Permanent => {}
                Restart::Transient => {
                    for nth in lives_that_were_followed {
                        prop_assert!(!script.life(child, nth).reason().is_normal());
                    }
                }
                Restart::Temporary => prop_assert_eq!(times.len(), 1),
            }
        }
    }
}
