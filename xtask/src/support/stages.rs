//! A command made of stages: all of them run, whatever fails, and the summary says what did.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use super::error::Result;
use super::table::Table;
use super::tally::{Tally, longest};

/// The stages that have run so far, and those that could not.
#[derive(Default)]
pub(crate) struct Stages {
    /// Seconds, passed, failed, name, verdict.
    rows: Vec<[String; 5]>,
    errors: Vec<String>,
    sum: Tally,
    elapsed: Duration,
}

impl Stages {
    /// Runs one stage; an error, or a stage in which nothing ran, is a failure of that stage.
    pub(crate) fn run(&mut self, name: impl Into<String>, stage: impl FnOnce() -> Result<Tally>) {
        let name = name.into();
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = match stage() {
            Ok(tally) if tally == Tally::default() => Err("nothing ran in this stage".into()),
            outcome => outcome,
        };
        let tally = outcome.unwrap_or_else(|error| {
            println!("error: {error}");
            self.errors.push(format!("error: {name}: {error}"));
            Tally::of(false)
        });
        let (elapsed, Tally { passed, failed }) = (started.elapsed(), tally);
        self.sum += tally;
        self.elapsed += elapsed;
        let seconds = format!("{:.1}", elapsed.as_secs_f64());
        let verdict = if tally.is_success() { "ok" } else { "FAILED" }.to_owned();
        let [passed, failed] = [passed, failed].map(|count| count.to_string());
        self.rows.push([seconds, passed, failed, name, verdict]);
    }

    /// A stage that is one command and passes when it exits with 0.
    pub(crate) fn check(&mut self, name: impl Into<String>, command: &mut Command) {
        self.run(name, || Ok(Tally::of(command.status()?.success())));
    }

    /// Says here and in the summary that a stage does not run, because something is not installed.
    pub(crate) fn skip(&mut self, name: &str, missing: &str) {
        println!("\n== {name}\nSKIPPED: there is no {missing} here");
        let verdict = format!("SKIPPED: no {missing}");
        let [seconds, passed, failed] = ["-"; 3].map(str::to_owned);
        self.rows
            .push([seconds, passed, failed, name.to_owned(), verdict]);
    }

    /// Prints one line per stage, the errors once more, and the sum, alone on the last line.
    pub(crate) fn summary(self) -> ExitCode {
        let mut table = Table::new([">seconds", ">passed", ">failed", "stage", ""]);
        self.rows.into_iter().for_each(|row| table.row(row));
        println!(
            "\n== summary, {:.1} s in all\n{table}",
            self.elapsed.as_secs_f64()
        );
        self.errors.iter().for_each(|error| println!("{error}"));
        if let Some((name, seconds)) = longest() {
            println!("the longest test: {seconds:.1} s, {name}");
        }
        println!("{}", self.sum);
        self.sum.exit_code()
    }
}
