//! The name of one schedule, and how a test fails under it.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The name of one schedule, such as `random:17`: under it the same test takes the same steps. From
/// a [`Failure`](crate::Failure), or parsed.
///
/// ```
/// let seed: filch_testing::Seed = "pct:4".parse()?;
/// assert_eq!(seed.to_string(), "pct:4");
/// # Ok::<(), filch_testing::NotASeed>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Seed {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
}

/// The way in which the next thread is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Each runnable thread with the same probability, at each step.
    #[default]
    Random,
    /// By priority, which changes at a few random steps (Burckhardt et al., *A Randomized Scheduler
    /// with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010).
    Pct,
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Random => "random",
            Kind::Pct => "pct",
        };
        write!(f, "{kind}:{}", self.number)
    }
}

impl FromStr for Seed {
    type Err = NotASeed;

    fn from_str(text: &str) -> Result<Self, NotASeed> {
        let parsed = text.split_once(':').and_then(|(kind, number)| {
            let kind = match kind {
                "random" => Kind::Random,
                "pct" => Kind::Pct,
                _ => return None,
            };
            let number = number.parse().ok()?;
            Some(Self { kind, number })
        });
        parsed.ok_or_else(|| NotASeed(text.to_owned()))
    }
}

/// The text that is not the name of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotASeed(pub String);

impl fmt::Display for NotASeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` names no schedule: `random:17` and `pct:17` do",
            self.0
        )
    }
}

impl Error for NotASeed {}

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
