//! A schedule under which a test fails.

use std::error::Error;
use std::fmt;

use crate::seed::Seed;

/// A schedule under which a test fails. Its `Display` says how to run it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub(crate) seed: Option<Seed>,
    pub(crate) passed: usize,
    pub(crate) message: String,
}

impl Failure {
    /// Returns the schedule; none for a run on real threads.
    pub fn seed(&self) -> Option<Seed> {
        self.seed
    }

    /// Returns the number of schedules that the test passed before.
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// Returns the message of the test's panic, or says that it deadlocked, or took too many steps.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, message) = (self.passed + 1, &self.message);
        let Some(seed) = self.seed else {
            return write!(f, "run {number}, on real threads, has failed: {message}");
        };
        let thread = std::thread::current();
        // libtest names a thread after its test, unless it has one thread for all.
        let test = thread.name().filter(|name| *name != "main");
        let test = test.unwrap_or("NAME");
        write!(
            f,
            "schedule {number}, which is {seed}, has failed: {message}\nTo run this one again, and \
             not by the seed that shuttle prints:\n  FILCH_TESTING_SEED={seed} \
             RUSTFLAGS=\"--cfg shuttle\" cargo test --target-dir target/shuttle {test}"
        )
    }
}

impl Error for Failure {}
