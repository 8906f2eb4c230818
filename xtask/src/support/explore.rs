//! The tests of a checker's harness, each in a process of its own: a failing one may abort, and a
//! hanging one is killed. And the table of what they explored.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Result;
use super::parallel;
use super::process::run_within;
use super::programs::Test;
use super::table::Table;
use super::tally::{Tally, note_time, tests_tally};

/// The lines that the tests of a package print, one an exploration: a word, the test's name and
/// what was explored, with tabs between them.
pub(crate) struct Harness {
    pub(crate) word: &'static str,
    /// The headings of the fields behind the word.
    pub(crate) fields: &'static [&'static str],
    /// The folder where the tests run.
    pub(crate) folder: PathBuf,
    /// Variables for the tests.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Tests in a module of this name may explore nothing.
    pub(crate) about_itself: &'static str,
    /// Kills a test, and counts it as failed, once it has run for this long.
    pub(crate) limit: Duration,
    /// Shows the output of all tests, not only of those that failed.
    pub(crate) shows_all: bool,
}

/// The end of one test.
struct Outcome {
    explored: Vec<Vec<String>>,
    output: String,
    /// The reason why it counts as failed, if it does.
    failure: Option<String>,
}

impl Harness {
    /// Runs the tests, says which one has ended, and prints the table, and what those printed that
    /// failed.
    pub(crate) fn explore(&self, tests: &[Test]) -> Result<Tally> {
        let ended = AtomicUsize::new(0);
        let outcomes = parallel::map(tests, |test| self.run(test, tests.len(), &ended))?;
        let (mut table, mut tally) = (Table::new(self.fields), Tally::default());
        for outcome in &outcomes {
            for row in &outcome.explored {
                table.row(row.clone());
            }
            tally += Tally::of(outcome.failure.is_none());
        }
        println!("{table}");
        for (test, outcome) in tests.iter().zip(&outcomes) {
            let verdict = outcome.failure.as_deref();
            if verdict.is_some() || self.shows_all {
                let verdict = verdict.unwrap_or("passed");
                println!("---- {}: {verdict}\n{}", test.name, outcome.output);
            }
        }
        Ok(tally)
    }

    fn run(&self, test: &Test, of: usize, number: &AtomicUsize) -> Result<Outcome> {
        let mut command = test.command(&self.folder);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let ended = run_within(&mut command, self.limit)?;
        let lines = ended.output.lines();
        let explored: Vec<_> = lines.filter_map(|line| self.fields_of(line)).collect();
        let failure = match ended.status {
            None => Some(format!("killed after {} s", self.limit.as_secs())),
            Some(status) if !status.success() => Some(status.to_string()),
            Some(_) if tests_tally(&ended.output) != Tally::of(true) => {
                Some("the test is ignored, or did not run".to_owned())
            }
            Some(_) if explored.is_empty() && test.module() != self.about_itself => {
                Some("it passed without exploring anything".to_owned())
            }
            Some(_) => None,
        };
        let number = number.fetch_add(1, Ordering::Relaxed) + 1;
        let verdict = failure.as_ref().map_or("", |_| "FAILED ");
        let seconds = ended.elapsed.as_secs_f64();
        println!("[{number}/{of}] {verdict}{}  {seconds:.1} s", test.name);
        note_time(seconds, &test.name);
        Ok(Outcome {
            explored,
            output: ended.output,
            failure,
        })
    }

    /// libtest may have written something in front.
    fn fields_of(&self, line: &str) -> Option<Vec<String>> {
        let (_, fields) = line.split_once(&format!("{}\t", self.word))?;
        let fields = fields.splitn(self.fields.len(), '\t').map(str::to_owned);
        Some(fields.collect()).filter(|fields: &Vec<_>| fields.len() == self.fields.len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Harness;

    #[test]
    fn a_line_of_the_harness_is_read_behind_libtests_prefix() {
        let harness = Harness {
            word: "model",
            fields: &["model", "verdict", "claim"],
            folder: "".into(),
            environment: Vec::new(),
            about_itself: "",
            limit: Duration::ZERO,
            shows_all: false,
        };
        let line = "test a_b ... model\tmain\tholds\teach item\tonce";
        let expected = ["main", "holds", "each item\tonce"].map(str::to_owned);
        assert_eq!(harness.fields_of(line), Some(expected.to_vec()));
        assert_eq!(harness.fields_of("running 1 test"), None);
        assert_eq!(harness.fields_of("model\tmain\tholds"), None);
    }
}
