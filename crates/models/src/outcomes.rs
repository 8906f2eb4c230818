//! The results of a model's executions.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use crate::{Bound, QUICK_PREEMPTIONS};

/// The set of results of one model's executions.
///
/// A model that only asserts "nothing bad happened" may never have reached its race. So let it
/// return the outcome of each execution, and assert which outcomes there are.
#[derive(Debug)]
#[must_use]
pub struct Outcomes<T>(BTreeSet<T>);

impl Bound {
    /// Explores `model` as [`check`](Self::check) does, and collects the results of its executions.
    pub fn outcomes<T: Ord + Debug + Send + 'static>(
        self,
        claim: &str,
        model: impl Fn() -> T + Send + Sync + 'static,
    ) -> Outcomes<T> {
        self.some_outcomes(claim, move || Some(model()))
    }

    /// Does the same for a model of which some executions miss the race, and have no result.
    pub fn some_outcomes<T: Ord + Debug + Send + 'static>(
        self,
        claim: &str,
        model: impl Fn() -> Option<T> + Send + Sync + 'static,
    ) -> Outcomes<T> {
        // std's lock, not loom's: it outlives the executions and must not add schedule points to
        // them.
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        self.check_from(QUICK_PREEMPTIONS.start, claim, {
            let seen = Arc::clone(&seen);
            move || {
                let outcome = model();
                seen.lock().unwrap().extend(outcome);
            }
        });
        Outcomes(std::mem::take(&mut *seen.lock().unwrap()))
    }
}

impl<T: Ord + Debug> Outcomes<T> {
    /// Panics unless exactly the outcomes in `expected` were observed, over all executions.
    pub fn assert_exactly(&self, expected: impl IntoIterator<Item = T>) {
        let expected: BTreeSet<T> = expected.into_iter().collect();
        let impossible: Vec<_> = self.0.difference(&expected).collect();
        let unreached: Vec<_> = expected.difference(&self.0).collect();
        assert!(
            impossible.is_empty() && unreached.is_empty(),
            "outcomes that must not happen: {impossible:?}; outcomes never reached: {unreached:?}",
        );
    }

    /// Panics unless every outcome in `expected` was observed; others may have been too.
    pub fn assert_reached(&self, expected: impl IntoIterator<Item = T>) {
        let wanted = expected.into_iter();
        let unreached: Vec<_> = wanted.filter(|wanted| !self.0.contains(wanted)).collect();
        assert!(
            unreached.is_empty(),
            "outcomes never reached: {unreached:?}; seen: {:?}",
            self.0
        );
    }
}
