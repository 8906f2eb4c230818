//! A command made of stages: all of them run, whatever fails, and the summary says what did.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use super::error::Result;
use super::table::Table;
use super::tally::Tally;

struct Finished {
    name: String,
    tally: Tally,
    elapsed: Duration,
    /// Why it could not be done.
    error: Option<String>,
}

/// A stage that cannot run here.
struct Skipped {
    name: &'static str,
    missing: &'static str,
}

/// The stages that have run so far, and those that could not.
#[derive(Default)]
pub(crate) struct Stages {
    finished: Vec<Finished>,
    skipped: Vec<Skipped>,
}

impl Stages {
    /// Runs one stage; an error, or a stage in which nothing ran, is a failure of that stage.
    pub(crate) fn run(&mut self, name: impl Into<String>, stage: impl FnOnce() -> Result<Tally>) {
        let name = name.into();
        println!("\n== {name}");
        let started = Instant::now();
        let (tally, error) = match stage() {
            Ok(tally) if tally == Tally::default() => (
                Tally::of(false),
                Some("nothing ran in this stage".to_owned()),
            ),
            Ok(tally) => (tally, None),
            Err(error) => (Tally::of(false), Some(error.to_string())),
        };
        if let Some(error) = &error {
            println!("error: {error}");
        }
        self.finished.push(Finished {
            name,
            tally,
            elapsed: started.elapsed(),
            error,
        });
    }

    /// A stage that is one command and passes when it exits with 0.
    pub(crate) fn check(&mut self, name: impl Into<String>, command: &mut Command) {
        self.run(name, || Ok(Tally::of(command.status()?.success())));
    }

    /// Says here and in the summary that a stage does not run, because something is not installed.
    pub(crate) fn skip(&mut self, name: &'static str, missing: &'static str) {
        println!("\n== {name}\nSKIPPED: there is no {missing} here");
        self.skipped.push(Skipped { name, missing });
    }

    /// Prints one line per stage, the errors once more, and the sum, alone on the last line.
    pub(crate) fn summary(self) -> ExitCode {
        let mut sum = Tally::default();
        let mut seconds = 0.0;
        let mut table = Table::new([">seconds", ">passed", ">failed", "stage", ""]);
        for stage in &self.finished {
            sum += stage.tally;
            seconds += stage.elapsed.as_secs_f64();
            let verdict = if stage.tally.is_success() {
                "ok"
            } else {
                "FAILED"
            };
            table.row([
                format!("{:.1}", stage.elapsed.as_secs_f64()),
                stage.tally.passed.to_string(),
                stage.tally.failed.to_string(),
                stage.name.to_owned(),
                verdict.to_owned(),
            ]);
        }
        for Skipped { name, missing } in &self.skipped {
            let name = (*name).to_owned();
            let [none, verdict] = ["-".to_owned(), format!("SKIPPED: no {missing}")];
            table.row([none.clone(), none.clone(), none, name, verdict]);
        }
        println!("\n== summary, {seconds:.1} s in all\n{table}");
        for Finished { name, error, .. } in &self.finished {
            if let Some(error) = error {
                println!("error: {name}: {error}");
            }
        }
        println!("{sum}");
        sum.exit_code()
    }
}
