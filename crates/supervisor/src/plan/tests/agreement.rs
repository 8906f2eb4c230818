//! The plan does what the model says, in every world.

use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{Config as ProptestConfig, TestRunner};
use proptest::{prop_assert_eq, proptest};

use super::model::foretell;
use super::script::{Fact, script};
use super::world::carry_out;
use crate::plan::event::{ChildError, Failure};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Compares all facts and their times.
    #[test]
    fn the_plan_does_what_the_model_says(script in script()) {
        prop_assert_eq!(carry_out(&script), foretell(&script));
    }
}

/// Checks that every kind of fact happens in the worlds.
#[test]
fn everything_happens() {
    let mut runner = TestRunner::deterministic();
    let generator = script();
    let mut facts = Vec::new();
    for _ in 0..1_000 {
        let script = generator.new_tree(&mut runner).expect("no filter");
        facts.extend(
            carry_out(&script.current())
                .into_iter()
                .map(|(_, fact)| fact),
        );
    }
    let happens = |what: &str, is_so: fn(&Fact) -> bool| {
        let times = facts.iter().filter(|fact| is_so(fact)).count();
        assert!(times > 20, "{what}: {times}");
    };
    happens("start", |fact| matches!(fact, Fact::Start(_)));
    happens("ask", |fact| matches!(fact, Fact::AskToEnd(_)));
    happens("terminate", |fact| matches!(fact, Fact::Terminate(_)));
    happens("done", |fact| matches!(fact, Fact::Answer(_, Ok(_))));
    happens("unknown", |fact| {
        refused(fact) == Some(&ChildError::Unknown)
    });
    happens("name taken", |fact| {
        refused(fact) == Some(&ChildError::NameTaken)
    });
    happens("running", |fact| {
        refused(fact) == Some(&ChildError::Running)
    });
    happens("restarting", |fact| {
        refused(fact) == Some(&ChildError::Restarting)
    });
    happens("stopping", |fact| {
        refused(fact) == Some(&ChildError::Stopping)
    });
    happens("did not start", |fact| {
        matches!(refused(fact), Some(ChildError::NotStarted(_)))
    });
    happens("stopped", |fact| matches!(fact, Fact::End(Ok(()))));
    happens("not started", |fact| {
        matches!(fact, Fact::End(Err(Failure::NotStarted { .. })))
    });
    happens("too many", |fact| {
        matches!(fact, Fact::End(Err(Failure::TooManyFailures { .. })))
    });
}

fn refused(fact: &Fact) -> Option<&ChildError> {
    match fact {
        Fact::Answer(_, Err(error)) => Some(error),
        _ => None,
    }
}
