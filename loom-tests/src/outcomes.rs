//! The results of a model's executions.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Bound, check};

/// The set of results of one model's executions.
///
/// A model that only asserts "nothing bad happened" may never have reached its race. So observe the
/// outcome at the end of each execution, and afterwards assert which outcomes there are.
#[derive(Debug)]
pub struct Outcomes<T> {
    // std's lock, not loom's: it outlives the executions and must not add schedule points to them.
    seen: Arc<Mutex<BTreeSet<T>>>,
}

impl<T> Clone for Outcomes<T> {
    fn clone(&self) -> Self {
        Self {
            seen: Arc::clone(&self.seen),
        }
    }
}

impl<T: Ord + Debug + Send + 'static> Outcomes<T> {
    /// Explores `model` as [`check`] does, and observes the result of each execution.
    pub fn of(claim: &str, bound: Bound, model: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let outcomes = Self::new();
        check(claim, bound, {
            let outcomes = outcomes.clone();
            move || outcomes.observe(model())
        });
        outcomes
    }
}

impl<T: Ord + Debug> Default for Outcomes<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Ord + Debug> Outcomes<T> {
    /// Starts with no outcome.
    pub fn new() -> Self {
        Self {
            seen: Arc::new(Mutex::new(BTreeSet::new())),
        }
    }

    /// Notes the outcome of this execution.
    pub fn observe(&self, outcome: T) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(outcome);
    }

    /// Panics unless exactly the outcomes in `expected` were observed, over all executions.
    pub fn assert_exactly(&self, expected: impl IntoIterator<Item = T>) {
        let expected: BTreeSet<T> = expected.into_iter().collect();
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let impossible: Vec<_> = seen.difference(&expected).collect();
        let unreached: Vec<_> = expected.difference(&seen).collect();
        assert!(
            impossible.is_empty() && unreached.is_empty(),
            "outcomes that must not happen: {impossible:?}; outcomes never reached: {unreached:?}",
        );
    }

    /// Panics unless every outcome in `expected` was observed; others may have been too.
    pub fn assert_reached(&self, expected: impl IntoIterator<Item = T>) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let unreached: Vec<_> = expected
            .into_iter()
            .filter(|wanted| !seen.contains(wanted))
            .collect();
        assert!(
            unreached.is_empty(),
            "outcomes never reached: {unreached:?}; seen: {seen:?}"
        );
    }
}
