#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg(loom)]

mod columns;
mod crossing;
mod outcomes;
mod replay;
mod source;
mod threads;
mod trace;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use filch_sync::recorded;

pub use crossing::Crossing;
pub use outcomes::Outcomes;
pub use threads::{beside, beside_both, tell};

/// The number of executions, as its author saw them, that makes a model a long one.
const LONG: u64 = 10_000;

/// The same, for who waits longer.
const LONGER: u64 = 30_000;

/// The preemptions that a long model is granted before its own bound: most bugs need two at most.
const QUICK_PREEMPTIONS: Range<usize> = 2..5;

/// The least executions of a long model with which such a bound will do.
const QUICK_AT_LEAST: u64 = 1_000;

/// The bound of a model's exploration.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    preemptions: Option<usize>,
    at_least: u64,
}

impl Bound {
    /// Explores at most `preemptions` involuntary context switches per execution, and expects
    /// `at_least` executions.
    ///
    /// Take `at_least` from a run that you saw, rounded down: the model then fails if a change
    /// makes the algorithm, or part of it, vanish from the search.
    pub const fn preemptions(preemptions: usize, at_least: u64) -> Self {
        Self {
            preemptions: Some(preemptions),
            at_least,
        }
    }

    /// Explores every interleaving that loom can produce, and expects `at_least` executions.
    pub const fn exhaustive(at_least: u64) -> Self {
        Self {
            preemptions: None,
            at_least,
        }
    }

    /// Returns the bounds for somebody who waits: a long model is explored with few preemptions,
    /// but with enough for [`QUICK_AT_LEAST`] executions.
    fn quick(self, fewest: usize, long: u64) -> Vec<Self> {
        let most = self.preemptions.unwrap_or(QUICK_PREEMPTIONS.end);
        let few = fewest..most.min(QUICK_PREEMPTIONS.end);
        let quick = few.map(|preemptions| Self {
            preemptions: Some(preemptions),
            at_least: QUICK_AT_LEAST,
        });
        let is_long = self.at_least >= long;
        quick.filter(|_| is_long).chain([self]).collect()
    }

    /// Returns the bounds to explore one after the other, until one gives enough executions: quick
    /// ones, unless `LOOM_MAX_PREEMPTIONS` gives a number, or `cargo xtask loom` asks for other
    /// ones. A mutant may only change the number of executions: then any number will do at the last
    /// bound. So does a build without debug assertions, some of which are accesses: there, a tenth
    /// will do.
    fn or_as_asked(self, fewest: usize) -> Vec<Self> {
        let asked = ["FILCH_LOOM_BOUND", "LOOM_MAX_PREEMPTIONS"];
        let asked = asked.iter().find_map(|name| std::env::var(name).ok());
        let mut bounds = match asked.as_deref() {
            None | Some("quicker") => self.quick(fewest, LONG),
            Some("quick") => self.quick(QUICK_PREEMPTIONS.start, LONG),
            Some("most") => self.quick(fewest, LONGER),
            Some("own") => vec![self],
            Some("full") => vec![Self {
                preemptions: None,
                ..self
            }],
            Some(bound) => {
                let asked = bound
                    .parse()
                    .expect("a number, or `own`, `most`, `full`, `quick`, `quicker`");
                // A bound below the author's explores less, so only a single execution is an error.
                let weaker = self.preemptions.is_none_or(|own| asked < own);
                vec![Self {
                    preemptions: Some(asked),
                    at_least: if weaker { 2 } else { self.at_least },
                }]
            }
        };
        if let Some(last) = bounds.last_mut() {
            if std::env::var_os("FILCH_LOOM_ANY_COUNT").is_some() {
                last.at_least = 2;
            } else if !cfg!(debug_assertions) {
                last.at_least = (last.at_least / 10).max(2);
            }
        }
        bounds
    }

    fn builder(self) -> loom::model::Builder {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = self.preemptions;
        builder.max_branches = 100_000;
        // Either of these would end the search early and report success.
        builder.max_permutations = None;
        builder.max_duration = None;
        builder
    }

    fn report(self, verdict: &str, claim: &str, executions: u64, elapsed: Duration) {
        let bound = self
            .preemptions
            .map_or_else(|| "none".to_owned(), |bound| bound.to_string());
        let test = thread::current().name().unwrap_or("?").to_owned();
        // `cargo xtask loom` reads these lines: keep the field order.
        println!(
            "model\t{test}\t{verdict}\t{bound}\t{executions}\t{:.2}\t{claim}",
            elapsed.as_secs_f64()
        );
    }

    /// Explores `model`; panics if an execution fails, or if too few were explored to mean
    /// anything.
    pub fn check(self, claim: &str, model: impl Fn() + Send + Sync + 'static) {
        self.check_from(0, claim, model);
    }

    /// Does the same, quick as it may be with at least the `fewest` preemptions.
    fn check_from(self, fewest: usize, claim: &str, model: impl Fn() + Send + Sync + 'static) {
        let explored = explore(&self.or_as_asked(fewest), model);
        let (bound, executions) = (explored.bound, explored.executions);
        if let Err(panic) = explored.verdict {
            resume_unwind(panic);
        }
        bound.report("holds", claim, executions, explored.elapsed);
        trace::SOUND.set(claim.to_owned());
        assert!(
            executions > 1,
            "one execution only: the model has no race in it"
        );
        assert!(
            executions >= bound.at_least,
            "{executions} executions, expected at least {}: part of the algorithm is not being \
             explored",
            bound.at_least,
        );
    }

    /// Explores a deliberately broken `model`, and panics unless the checker catches it.
    ///
    /// `symptom` is a part of the failing execution's panic message, so that the bug is caught for
    /// the reason that its author gives, and not because the model itself is broken. A sound twin
    /// of the model, explored by [`check`](Self::check), says the rest. The number of executions is
    /// reported and not judged: of the bound, only the preemptions count here. Returns the table of
    /// the execution, as it stands in docs/counter-examples.
    #[track_caller]
    pub fn refute(
        self,
        claim: &str,
        symptom: &str,
        model: impl Fn() + Send + Sync + 'static,
    ) -> String {
        let place = Location::caller();
        trace::EXPECTED.set(Some(Vec::new()));
        let explored = explore(&[self], model);
        let steps = trace::EXPECTED.take().unwrap_or_default();
        let executions = explored.executions;
        let Err(panic) = explored.verdict else {
            panic!("{executions} executions and the known bug was not caught: {claim}");
        };
        let message = panic_message(panic.as_ref());
        assert!(
            message.contains(symptom),
            "{claim}: caught, but not by its symptom: expected `{symptom}`, the execution failed \
             with `{message}`",
        );
        self.report("caught", claim, executions, explored.elapsed);
        trace::caught(claim, symptom, message, &steps, place)
    }

    /// Checks the `model` without a bug, and refutes it with each of `bugs`, which stands beside
    /// its symptom. The default of `B` is no bug.
    #[track_caller]
    pub fn check_and_refute<B: Copy + Debug + Default + Send + Sync + 'static>(
        self,
        claim: &str,
        model: fn(B),
        bugs: &[(B, &str)],
    ) {
        self.check(claim, move || model(B::default()));
        for &(bug, symptom) in bugs {
            self.refute(&format!("{bug:?}"), symptom, move || model(bug));
        }
    }
}

/// The extent of a search, and its end.
struct Explored {
    bound: Bound,
    executions: u64,
    elapsed: Duration,
    verdict: thread::Result<()>,
}

/// Searches up to each of `bounds`, until a search fails or has given as many executions as its
/// bound asks for.
fn explore(bounds: &[Bound], model: impl Fn() + Send + Sync + 'static) -> Explored {
    let model: Arc<dyn Fn() + Send + Sync> = Arc::new(model);
    let (last, before) = bounds.split_last().expect("there is a bound");
    let mut searches = before
        .iter()
        .map(|bound| search(*bound, Arc::clone(&model)));
    searches
        .find(|explored| {
            explored.verdict.is_err() || explored.executions >= explored.bound.at_least
        })
        .unwrap_or_else(|| search(*last, Arc::clone(&model)))
}

fn search(bound: Bound, model: Arc<dyn Fn() + Send + Sync>) -> Explored {
    // std's counter, not loom's: it outlives the executions and must not add schedule points to
    // them.
    let executions = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let verdict = catch_unwind(AssertUnwindSafe(|| {
        bound.builder().check({
            let executions = Arc::clone(&executions);
            move || {
                // ORDERING: Relaxed, here and below: a search is one thread's.
                trace::begin(executions.fetch_add(1, Ordering::Relaxed) + 1);
                model();
            }
        });
    }));
    trace::end();
    Explored {
        bound,
        executions: executions.load(Ordering::Relaxed),
        elapsed: started.elapsed(),
        verdict: recorded::take_deadlock().map_or(verdict, Err),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}
