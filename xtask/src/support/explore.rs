//! The tests of a checker's harness, each in a process of its own: a failing one may abort, and a
//! hanging one is killed. And the table of what they explored.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::error::Result;
use super::parallel;
use super::process::{Ended, run_within};
use super::programs::Test;
use super::table::Table;
use super::tally::{Tally, note_time, tests_tally};

/// The lines that the tests of a package print, one an exploration: a word, the test's name and
/// what was explored, with tabs between them.
pub(crate) struct Harness<const FIELDS: usize> {
    pub(crate) word: &'static str,
    /// The headings of the fields behind the word.
    pub(crate) fields: [&'static str; FIELDS],
    /// The folder where the tests run.
    pub(crate) folder: PathBuf,
    /// Variables for the tests.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Fails tests that explored nothing, except those in a file of this name.
    pub(crate) must_explore_but: Option<&'static str>,
    /// Kills a test, and counts it as failed, once it has run for this long.
    pub(crate) limit: Duration,
    /// Shows the output of all tests, not only of those that failed.
    pub(crate) shows_all: bool,
}

/// The end of one test.
pub(crate) struct Outcome<const FIELDS: usize> {
    pub(crate) explored: Vec<[String; FIELDS]>,
    pub(crate) ended: Ended,
    /// The reason why it counts as failed, if it does.
    pub(crate) failure: Option<String>,
}

impl<const FIELDS: usize> Harness<FIELDS> {
    /// Runs the tests, says which one has ended, and prints the table, and what those printed that
    /// failed.
    pub(crate) fn explore(&self, tests: &[Test]) -> Result<Vec<Outcome<FIELDS>>> {
        let ended = AtomicUsize::new(0);
        let outcomes = parallel::map(tests, |test| {
            let outcome = self.run(test)?;
            let number = ended.fetch_add(1, Ordering::Relaxed) + 1;
            let verdict = outcome.failure.as_ref().map_or("", |_| "FAILED ");
            let seconds = outcome.ended.elapsed.as_secs_f64();
            println!("[{number}/{}] {verdict}{test}  {seconds:.1} s", tests.len());
            note_time(test.to_string(), seconds);
            Ok(outcome)
        })?;
        let mut table = Table::new(self.fields);
        let mut file = "";
        for (test, outcome) in tests.iter().zip(&outcomes) {
            if test.file != file {
                file = &test.file;
                table.group(&format!("--test {file}"));
            }
            outcome
                .explored
                .iter()
                .for_each(|row| table.row(row.clone()));
        }
        println!("{table}");
        for (test, outcome) in tests.iter().zip(&outcomes) {
            let verdict = outcome.failure.as_deref();
            if verdict.is_some() || self.shows_all {
                let output = &outcome.ended.output;
                println!("---- {test}: {}\n{output}", verdict.unwrap_or("passed"));
            }
        }
        Ok(outcomes)
    }

    pub(crate) fn run(&self, test: &Test) -> Result<Outcome<FIELDS>> {
        let mut command = test.command(&self.folder);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let ended = run_within(&mut command, self.limit)?;
        let lines = ended.output.lines();
        let explored: Vec<_> = lines.filter_map(|line| self.fields_of(line)).collect();
        let has_explored =
            !explored.is_empty() || self.must_explore_but.is_none_or(|file| test.file == file);
        let failure = match ended.status {
            None => Some(format!("killed after {} s", self.limit.as_secs())),
            Some(status) if !status.success() => Some(status.to_string()),
            Some(_) if tests_tally(&ended.output) != Tally::of(true) => {
                Some("the test is ignored, or did not run".to_owned())
            }
            Some(_) => (!has_explored).then(|| "it passed without exploring anything".to_owned()),
        };
        Ok(Outcome {
            explored,
            ended,
            failure,
        })
    }

    /// libtest may have written something in front.
    fn fields_of(&self, line: &str) -> Option<[String; FIELDS]> {
        let (_, fields) = line.split_once(&format!("{}\t", self.word))?;
        let fields: Vec<_> = fields.splitn(FIELDS, '\t').map(str::to_owned).collect();
        fields.try_into().ok()
    }
}

/// Counts what passed and failed.
pub(crate) fn tally<const FIELDS: usize>(outcomes: &[Outcome<FIELDS>]) -> Tally {
    let mut tally = Tally::default();
    for outcome in outcomes {
        tally += Tally::of(outcome.failure.is_none());
    }
    tally
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Harness;

    #[test]
    fn a_line_of_the_harness_is_read_behind_libtests_prefix() {
        let harness = Harness {
            word: "model",
            fields: ["model", "verdict", "claim"],
            folder: "".into(),
            environment: Vec::new(),
            must_explore_but: None,
            limit: Duration::ZERO,
            shows_all: false,
        };
        let line = "test a_b ... model\tmain\tholds\teach item\tonce";
        let expected = ["main", "holds", "each item\tonce"].map(str::to_owned);
        assert_eq!(harness.fields_of(line), Some(expected));
        assert_eq!(harness.fields_of("running 1 test"), None);
        assert_eq!(harness.fields_of("model\tmain\tholds"), None);
    }
}
