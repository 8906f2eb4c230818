//! Counting what passed and what failed, also from what test programs print.

use std::fmt;
use std::ops::AddAssign;
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use super::Result;
use super::process::tee;

/// Numbers of tests, models or checks that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub passed: u64,
    pub failed: u64,
}

impl Tally {
    /// One check.
    pub(crate) const fn of(passed: bool) -> Self {
        Self {
            passed: passed as u64,
            failed: !passed as u64,
        }
    }

    /// Returns whether nothing failed, and there was something to fail.
    pub(crate) const fn is_success(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// Prints it, as the last line of a command.
    pub(crate) fn report(self) -> Result<ExitCode> {
        println!("{self}");
        Ok(self.exit_code())
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        if self.is_success() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Runs a `cargo test`, or a `cargo nextest run`, and counts what its closing lines say. A run that
/// failed without a failed test did not compile, or aborted: that counts as one failure.
pub(crate) fn tests(command: &mut Command) -> Result<Tally> {
    let (status, output) = tee(command)?;
    let mut tally = tests_tally(&output);
    if !status.success() {
        tally.failed = tally.failed.max(1);
    }
    Ok(tally)
}

/// The longest test so far of those that are run one by one: its seconds and its name.
pub(crate) static LONGEST: Mutex<(f64, String)> = Mutex::new((0.0, String::new()));

pub(crate) fn note_time(seconds: f64, name: &str) {
    let mut longest = LONGEST.lock().expect("no holder panics");
    if seconds > longest.0 {
        *longest = (seconds, name.to_owned());
    }
}

/// The sum of the closing lines: libtest's `test result: ok. 3 passed; 0 failed; 0 ignored; …`,
/// nextest's `Summary [ 0.1s] 5 tests run: 3 passed, 1 failed, 1 timed out, 0 skipped`.
pub(crate) fn tests_tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    let closes = |line: &&str| line.contains("test result: ") || line.contains("Summary [");
    for line in output.lines().filter(closes) {
        tally.passed += number_before(line, "passed");
        tally.failed += number_before(line, "failed") + number_before(line, "timed out");
    }
    tally
}

/// The number that stands right before `word`, or 0.
fn number_before(text: &str, word: &str) -> u64 {
    let Some((before, _)) = text.split_once(&format!(" {word}")) else {
        return 0;
    };
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Tally, tests_tally};

    #[test]
    fn the_closing_lines_of_libtest_are_summed() {
        let output = "\
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
test x ... test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let expected = Tally {
            passed: 13,
            failed: 2,
        };
        assert_eq!(tests_tally(output), expected);
    }

    #[test]
    fn the_closing_line_of_nextest_is_read() {
        let output = "  PASS [ 0.004s] crate tests::passed\n  \
                      Summary [ 0.020s] 6 tests run: 3 passed (1 slow), 1 failed, 2 timed out, \
                      0 skipped\n";
        let expected = Tally {
            passed: 3,
            failed: 3,
        };
        assert_eq!(tests_tally(output), expected);
    }
}
