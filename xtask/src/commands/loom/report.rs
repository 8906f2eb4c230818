//! What a model's process said, and the table of all of them.

use std::fmt;
use std::time::Duration;

use super::build::Model;
use crate::support::process::Ended;
use crate::support::table::Table;

/// A `model` line of the harness: `model TEST VERDICT BOUND EXECUTIONS SECONDS CLAIM`, separated by
/// tabs.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    verdict: String,
    bound: String,
    executions: u64,
    seconds: String,
    claim: String,
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        // libtest writes `test NAME ... ` in front when it does not capture.
        let (_, fields) = line.split_once("model\t")?;
        let fields: Vec<_> = fields.splitn(6, '\t').collect();
        let [_, verdict, bound, executions, seconds, claim] = fields[..] else {
            return None;
        };
        Some(Self {
            verdict: verdict.to_owned(),
            bound: bound.to_owned(),
            executions: executions.parse().ok()?,
            seconds: seconds.to_owned(),
            claim: claim.to_owned(),
        })
    }
}

/// How one test ended.
pub(super) struct Outcome<'m> {
    model: &'m Model,
    lines: Vec<Line>,
    ended: Ended,
    /// Why it counts as failed, if it does.
    pub failure: Option<String>,
}

impl<'m> Outcome<'m> {
    pub(super) fn new(model: &'m Model, ended: Ended, limit: Duration) -> Self {
        let lines: Vec<_> = ended.output.lines().filter_map(Line::parse).collect();
        let failure = match ended.status {
            None => Some(format!(
                "killed after {} s: raise --limit, or look for a loop",
                limit.as_secs()
            )),
            Some(status) if !status.success() => Some(status.to_string()),
            Some(_) if !ended.output.contains("test result: ok. 1 passed") => {
                Some("the test is ignored, or did not run".to_owned())
            }
            Some(_) if lines.is_empty() && !model.is_about_the_harness() => {
                Some("it passed without exploring a model: use `check` or `refute`".to_owned())
            }
            Some(_) => None,
        };
        Self {
            model,
            lines,
            ended,
            failure,
        }
    }

    fn add_rows(&self, table: &mut Table<6>) {
        let row = |verdict: &str, bound: &str, executions: &str, seconds: &str, claim: &str| {
            [&self.model.test, bound, executions, seconds, verdict, claim].map(str::to_owned)
        };
        let seconds = format!("{:.2}", self.ended.elapsed.as_secs_f64());
        if let Some(failure) = &self.failure {
            table.row(row("FAILED", "", "", &seconds, failure));
        } else if self.model.is_about_the_harness() {
            table.row(row("passes", "", "", &seconds, ""));
        } else {
            for line in &self.lines {
                let executions = thousands(line.executions);
                table.row(row(
                    &line.verdict,
                    &line.bound,
                    &executions,
                    &line.seconds,
                    &line.claim,
                ));
            }
        }
    }
}

/// One line, as soon as it has ended.
impl fmt::Display for Outcome<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = self.failure.as_ref().map_or("", |_| "FAILED ");
        let executions = self.lines.iter().map(|line| line.executions).sum();
        write!(
            formatter,
            "{verdict}{}  {} executions, {:.1} s",
            self.model.full_name(),
            thousands(executions),
            self.ended.elapsed.as_secs_f64()
        )
    }
}

/// Prints the table, then the whole output of each model that failed, or of each that ran, then the
/// totals.
pub(super) fn print(outcomes: &[Outcome<'_>], show_all: bool, elapsed: Duration) {
    let mut table = Table::new([
        "model",
        ">bound",
        ">executions",
        ">seconds",
        "verdict",
        "claim",
    ]);
    let mut file = "";
    for outcome in outcomes {
        if outcome.model.file != file {
            file = &outcome.model.file;
            table.group(&format!("loom-tests, --test {file}"));
        }
        outcome.add_rows(&mut table);
    }
    println!("{table}");
    for outcome in outcomes {
        let verdict = match &outcome.failure {
            Some(failure) => failure,
            None if show_all => "passed",
            None => continue,
        };
        println!(
            "---- {}: {verdict}\n{}",
            outcome.model.full_name(),
            outcome.ended.output
        );
        if let (false, Some(number)) = (show_all, failing_execution(&outcome.ended.output)) {
            println!(
                "to see what happened: cargo xtask loom --execution {number} {}\n",
                outcome.model.full_name()
            );
        }
    }
    let models = || {
        let held = |outcome: &&Outcome<'_>| outcome.failure.is_none();
        let of_code = |outcome: &&Outcome<'_>| !outcome.model.is_about_the_harness();
        outcomes
            .iter()
            .filter(of_code)
            .filter(held)
            .flat_map(|outcome| &outcome.lines)
    };
    let executions: u64 = models().map(|line| line.executions).sum();
    println!(
        "{} models, {} executions, {:.1} s",
        models().count(),
        thousands(executions),
        elapsed.as_secs_f64(),
    );
}

/// What the harness has announced at the first panic: `execution 17 fails:`.
fn failing_execution(output: &str) -> Option<u64> {
    let mut words = output.lines().filter_map(|line| {
        let (_, number) = line.strip_suffix(" fails:")?.rsplit_once("execution ")?;
        number.parse().ok()
    });
    words.next()
}

/// `1234567` as `1 234 567`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{Line, failing_execution, thousands};

    #[test]
    fn a_line_of_the_harness_is_read_behind_libtests_prefix() {
        let line = Line::parse("test a_b ... model\tmain\tholds\t3\t1014\t0.05\teach item\tonce");
        let expected = Line {
            verdict: "holds".into(),
            bound: "3".into(),
            executions: 1014,
            seconds: "0.05".into(),
            claim: "each item\tonce".into(),
        };
        assert_eq!(line, Some(expected));
    }

    #[test]
    fn other_lines_are_not_models() {
        assert_eq!(Line::parse("running 1 test"), None);
        assert_eq!(Line::parse("model\tmain\tholds"), None);
    }

    #[test]
    fn the_execution_that_fails_is_read_behind_libtests_prefix() {
        let output = "running 1 test\ntest a ... execution 17 fails:\nthread 'a' panicked at b.rs";
        assert_eq!(failing_execution(output), Some(17));
        assert_eq!(failing_execution("the execution fails:"), None);
    }

    #[test]
    fn thousands_are_set_apart() {
        let written = [0, 12, 999, 1000, 1_234_567].map(thousands);
        assert_eq!(written, ["0", "12", "999", "1 000", "1 234 567"]);
    }
}
