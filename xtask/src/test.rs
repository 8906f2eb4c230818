//! `cargo xtask test`: everything a contributor must pass.

use std::process::{Command, ExitCode, ExitStatus, Stdio};

use crate::Result;
use crate::loom;
use crate::process::{cargo, tee_both, tee_stdout};
use crate::shuttle;
use crate::stages::{Stages, Tally};

pub(crate) fn run() -> Result<ExitCode> {
    let mut stages = Stages::default();
    add_stages(&mut stages);
    Ok(stages.summary())
}

/// The stages of `test`, for `ci` to run among its own.
pub(crate) fn add_stages(stages: &mut Stages) {
    stages.run("unit, property and integration tests", code_tests);
    stages.run("documentation tests", doc_tests);
    stages.run("models, at their committed bounds", || {
        loom::explore(&loom::Options::default())
    });
    stages.run("whole pools and schedulers, random schedules", || {
        shuttle::explore(&shuttle::Options::default())
    });
}

fn code_tests() -> Result<Tally> {
    if has_nextest() {
        let mut command = cargo();
        command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        let (status, output) = tee_both(&mut command)?;
        return Ok(verdict(status, nextest_tally(&output)));
    }
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests", "--examples"]);
    libtest(&mut command)
}

fn doc_tests() -> Result<Tally> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
    libtest(&mut command)
}

/// Runs a `cargo test` and counts what its closing lines say.
pub(crate) fn libtest(command: &mut Command) -> Result<Tally> {
    let (status, output) = tee_stdout(command)?;
    Ok(verdict(status, libtest_tally(&output)))
}

fn has_nextest() -> bool {
    let mut probe: Command = cargo();
    probe.args(["nextest", "--version"]);
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// A run that failed without a failed test did not compile, or aborted: that counts as one failure.
fn verdict(status: ExitStatus, mut tally: Tally) -> Tally {
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    tally
}

/// The sum of libtest's closing lines, `test result: ok. 3 passed; 0 failed; 0 ignored; …`.
pub(crate) fn libtest_tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines() {
        if let Some((_, counts)) = line.split_once("test result: ") {
            tally.passed += number_before(counts, "passed");
            tally.failed += number_before(counts, "failed");
        }
    }
    tally
}

/// nextest's closing line,
/// `Summary [ 0.1s] 5 tests run: 3 passed, 1 failed, 1 timed out, 0 skipped`.
fn nextest_tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines().filter(|line| line.contains("Summary [")) {
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
    use super::{Tally, libtest_tally, nextest_tally};

    #[test]
    fn the_closing_lines_of_libtest_are_summed() {
        let output = "\
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
test x ... test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let expected = Tally {
            passed: 13,
            failed: 2,
        };
        assert_eq!(libtest_tally(output), expected);
    }

    #[test]
    fn the_closing_line_of_nextest_is_read() {
        let output = "  PASS [ 0.004s] crate tests::passed\n  Summary [ 0.020s] 6 tests run: 3 passed (1 slow), \
            1 failed, 2 timed out, 0 skipped\n";
        let expected = Tally {
            passed: 3,
            failed: 3,
        };
        assert_eq!(nextest_tally(output), expected);
    }
}
