//! A test under many schedules, and a wait for an end that may not come.

use std::env;
use std::str::FromStr;
use std::sync::Arc;

use filch_scheduler::{Handle, Pid, Protocol};

use crate::imp;
use crate::seed::{Failure, Seed};

/// The steps after which an execution counts as endless.
const ENDLESS: usize = 1_000_000;

/// Runs a test under many schedules, half of them random, the others PCT's.
///
/// Without `--cfg shuttle` there are no schedules: the test runs on real threads, at most 20 times.
#[derive(Debug, Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Exploration {
    schedules: usize,
    first: u64,
    steps: usize,
}

impl Exploration {
    /// Explores this number of schedules, the same ones each time.
    pub fn new(schedules: usize) -> Self {
        Self {
            schedules,
            first: 0,
            steps: ENDLESS,
        }
    }

    /// Sets the first number of the seeds, for other schedules. Default: 0.
    pub fn first_seed(mut self, number: u64) -> Self {
        self.first = number;
        self
    }

    /// Sets the most steps of an execution: one with more has failed, as it might never end. A step
    /// is the work of a thread between two accesses to shared data. On real threads there is no
    /// bound. Default: a million.
    pub fn steps(mut self, most: usize) -> Self {
        self.steps = most;
        self
    }

    /// Runs the test under each schedule, in order, until it fails. Returns the number of schedules
    /// that it passed.
    ///
    /// # Errors
    /// The first schedule under which the test failed: it panicked, all of its threads waited for
    /// each other, or it took too many steps.
    pub fn find(&self, test: impl Fn() + Send + Sync + 'static) -> Result<usize, Failure> {
        self.find_among(imp::seeds(self.first, self.schedules), test)
    }

    /// Runs the test under the schedule of that seed alone.
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

    /// As [`find`](Self::find), for a test that must pass all schedules. The environment variable
    /// `FILCH_TESTING_SCHEDULES` replaces the number of schedules; with `FILCH_TESTING_SEED` only
    /// that schedule runs.
    ///
    /// # Panics
    /// If the test fails, with the [`Failure`]; or if a variable is not a number, or not a seed.
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

/// Runs `test` under this number of schedules. See [`Exploration::run`].
///
/// # Panics
/// If the test fails under one.
#[doc(alias = "Concuerror")]
pub fn explore(schedules: usize, test: impl Fn() + Send + Sync + 'static) {
    Exploration::new(schedules).run(test);
}

/// Runs `test` again under the schedule of the seed that a failure names. For a PCT seed, it first
/// runs once in the plainest order. On real threads it just runs the test.
///
/// # Panics
/// If the test fails; or if `seed` is not a seed.
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

/// Waits until nothing can run any more in the scheduler. Blocks for ever if a process never stops
/// running.
///
/// Where a `join` would wait for ever, this shows the reason. Call it after joining all other
/// threads of the test that send messages or complete commands.
///
/// # Panics
/// If the process `pid` has not ended by then, with what each process [waits
/// for](filch_scheduler::Standstill); or if it is called on one of the scheduler's workers.
pub fn wait_for_end<P: Protocol>(scheduler: &Handle<P>, pid: Pid) {
    match scheduler.wait_for_standstill() {
        Ok(standstill) => {
            let lives = standstill
                .processes
                .iter()
                .any(|process| process.pid == pid);
            assert!(!lives, "process {pid} never ends: {standstill}");
        }
        Err(error) => panic!("process {pid} cannot be waited for: {error}"),
    }
}
