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
    times(&output).for_each(|(seconds, name)| note_time(seconds, name));
    let mut tally = tests_tally(&output);
    if !status.success() {
        tally.failed = tally.failed.max(1);
    }
    Ok(tally)
}

/// The longest test so far, or program of tests that libtest does not time: its seconds and name.
pub(crate) static LONGEST: Mutex<(f64, String)> = Mutex::new((0.0, String::new()));

pub(crate) fn note_time(seconds: f64, name: &str) {
    let mut longest = LONGEST.lock().expect("no holder panics");
    if seconds > longest.0 {
        *longest = (seconds, name.to_owned());
    }
}

/// The seconds of each test by nextest, `PASS [ 0.1s] crate tests::one`, and of each program by
/// libtest: `Running unittests src/lib.rs (…)`, and later `…; finished in 0.10s`.
fn times(output: &str) -> impl Iterator<Item = (f64, &str)> {
    let mut program = "";
    output.lines().map(str::trim_start).filter_map(move |line| {
        let begins = ["Running ", "Doc-tests "].map(|word| line.strip_prefix(word));
        program = begins.into_iter().flatten().next().unwrap_or(program);
        let ends = ["finished in ", "PASS [", "FAIL [", "TIMEOUT ["].iter();
        let (_, ends) = ends.filter_map(|words| line.split_once(words)).next()?;
        let (seconds, test) = ends.split_once('s')?;
        let seconds = seconds.trim().parse().ok()?;
        Some((seconds, test.strip_prefix("] ").unwrap_or(program)))
    })
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
    use super::{Tally, tests_tally, times};

    #[test]
    fn programs_of_libtest_and_tests_of_nextest_have_their_times() {
        let output = "     Running tests/a.rs (target/a-0)\ntest result: ok. 1 passed; 0 failed; \
                      finished in 1.50s\n   Doc-tests b\ntest result: ok. 2 passed; finished in \
                      0.10s\n        PASS [  12.004s] c d::one\n     TIMEOUT [  60.000s] c \
                      d::two\n";
        let expected = [
            (1.5, "tests/a.rs (target/a-0)"),
            (0.1, "b"),
            (12.004, "c d::one"),
            (60.0, "c d::two"),
        ];
        assert!(times(output).eq(expected));
    }

    #[test]
    fn the_closing_lines_of_libtest_and_nextest_are_summed() {
        let output = "\
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
test x ... test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
  PASS [ 0.004s] crate tests::passed\n\
  Summary [ 0.020s] 6 tests run: 3 passed (1 slow), 1 failed, 2 timed out, 0 skipped\n";
        let Tally { passed, failed } = tests_tally(output);
        assert_eq!([passed, failed], [16, 5]);
    }
}
