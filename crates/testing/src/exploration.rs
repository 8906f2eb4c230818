//! A test under many schedules.

use std::env;
use std::str::FromStr;
use std::sync::Arc;

use crate::failure::Failure;
use crate::imp;
use crate::seed::Seed;

/// Steps after which an execution counts as one that never ends.
const ENDLESS: usize = 1_000_000;

/// How a test is run under many schedules, half of them random, the others PCT's.
///
/// Without `--cfg shuttle` there are no schedules: the test runs on real threads, 20 times at most.
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Exploration {
    schedules: usize,
    first: u64,
    steps: usize,
}

impl Exploration {
    /// So many schedules, the same each time.
    pub fn new(schedules: usize) -> Self {
        Self {
            schedules,
            first: 0,
            steps: ENDLESS,
        }
    }

    /// Other schedules: their seeds begin with this number. Default: 0.
    pub fn first_seed(mut self, number: u64) -> Self {
        self.first = number;
        self
    }

    /// An execution of more steps has failed: it might never end. A step is what a thread does
    /// between two accesses to what threads share. On real threads there is no bound. Default: a
    /// million.
    pub fn steps(mut self, most: usize) -> Self {
        self.steps = most;
        self
    }

    /// Runs the test under each schedule, in order, until it fails. Returns how many schedules it
    /// has passed.
    ///
    /// # Errors
    /// The first schedule that it fails under: it panicked, all of its threads waited for each
    /// other, or it took too many steps.
    pub fn find(&self, test: impl Fn() + Send + Sync + 'static) -> Result<usize, Failure> {
        self.find_among(imp::seeds(self.first, self.schedules), test)
    }

    /// Runs the test under the one schedule of that seed.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_at(
        &self,
        seed: Seed,
        test: impl Fn() + Send + Sync + 'static,
    ) -> Result<usize, Failure> {
        self.find_among([cfg!(shuttle).then_some(seed)].into_iter(), test)
    }

    /// As [`find`](Self::find), for a test of which no schedule is to fail. The environment
    /// variable `FILCH_TESTING_SCHEDULES` replaces the number of schedules, and
    /// `FILCH_TESTING_SEED` has one schedule alone run.
    ///
    /// # Panics
    /// If the test fails, with the [`Failure`]; or if a variable is no number, or no seed.
    pub fn run(&self, test: impl Fn() + Send + Sync + 'static) {
        let passed = match asked("FILCH_TESTING_SEED") {
            Some(seed) => self.find_at(seed, test),
            None => {
                let schedules = asked("FILCH_TESTING_SCHEDULES").unwrap_or(self.schedules);
                self.find_among(imp::seeds(self.first, schedules), test)
            }
        };
        if let Err(failure) = passed {
            panic!("{failure}");
        }
    }

    fn find_among(
        &self,
        seeds: impl Iterator<Item = Option<Seed>>,
        test: impl Fn() + Send + Sync + 'static,
    ) -> Result<usize, Failure> {
        let test = Arc::new(test);
        let mut passed = 0;
        for seed in seeds {
            let run = imp::run(seed, self.steps, &test);
            run.map_err(|message| Failure {
                seed,
                passed,
                message,
            })?;
            passed += 1;
        }
        Ok(passed)
    }
}

/// Runs `test` under so many schedules. See [`Exploration::run`].
///
/// # Panics
/// If it fails under one.
pub fn explore(schedules: usize, test: impl Fn() + Send + Sync + 'static) {
    Exploration::new(schedules).run(test);
}

/// Runs `test` under one schedule again: the seed that a failure has named. PCT's runs it once in
/// the plainest order before. On real threads it just runs the test.
///
/// # Panics
/// If the test fails; or if `seed` is none.
pub fn replay(seed: &str, test: impl Fn() + Send + Sync + 'static) {
    let seed = seed.parse().unwrap_or_else(|error| panic!("{error}"));
    if let Err(failure) = Exploration::new(1).find_at(seed, test) {
        panic!("{failure}");
    }
}

fn asked<T: FromStr>(variable: &str) -> Option<T> {
    let value = env::var(variable).ok()?;
    let Ok(parsed) = value.parse() else {
        panic!("{variable} cannot be `{value}`");
    };
    Some(parsed)
}
