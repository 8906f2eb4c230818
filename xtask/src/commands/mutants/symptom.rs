//! By what a test or a model showed that something was wrong.

use std::fmt;

use crate::support::process::Ended;

/// The strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Symptom {
    /// loom saw two accesses without an order between them.
    Race,
    /// Memory or an item was left behind.
    Leak,
    /// Every thread waits.
    Deadlock,
    /// A test, a model or an assertion of the code found a wrong value: an item lost or doubled, an
    /// order, an answer.
    Wrong,
    /// The process ended by a signal.
    Crash,
    /// It did not end in time, or a model spun beyond loom's limit.
    Hang,
    /// A model's outcome was not reached any more.
    Unreached,
    /// Too few executions: nothing of this was wrong.
    Count,
}

impl Symptom {
    /// `None` if nothing was wrong.
    pub(super) fn of(ended: &Ended) -> Option<Self> {
        let Some(status) = ended.status else {
            return Some(Self::Hang);
        };
        if status.success() {
            return None;
        }
        let output = &ended.output;
        let says = |words: &[&str]| words.iter().any(|words| output.contains(words));
        Some(if says(&["Causality violation"]) {
            Self::Race
        } else if says(&["exceeded maximum number of branches"]) {
            Self::Hang
        } else if says(&["leaked", "Leaked"]) {
            Self::Leak
        } else if says(&["deadlock;", "deadlock!"]) {
            Self::Deadlock
        } else if says(&["executions, expected at least", "one execution only"]) {
            Self::Count
        } else if says(&[
            "outcomes that must not happen: []",
            "outcomes never reached: [(",
        ]) {
            Self::Unreached
        } else if status.code().is_none() {
            Self::Crash
        } else {
            Self::Wrong
        })
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Race => "race",
            Self::Leak => "leak",
            Self::Deadlock => "deadlock",
            Self::Wrong => "wrong",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Unreached => "unreached",
            Self::Count => "count",
        })
    }
}
