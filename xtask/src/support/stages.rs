//! A command made of stages: all of them run, whatever fails, and the summary says what did.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use super::Result;
use super::process::{CHECKERS, cargo_in};
use super::table::Table;
use super::tally::{LONGEST, Tally, tests};

/// The stages that have run so far, and those that could not.
#[derive(Default)]
pub(crate) struct Stages {
    /// Seconds, passed, failed, name, verdict.
    rows: Vec<[String; 5]>,
    /// Lines below the table of the summary.
    pub(crate) remarks: Vec<String>,
    sum: Tally,
    pub(crate) elapsed: Duration,
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
            self.remarks.push(format!("error: {name}: {error}"));
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

    /// Runs a stage for each line of a table: its name, the [place](cargo_in) where cargo runs, and
    /// what it is to do. A warning is a failure.
    pub(crate) fn add(&mut self, table: &str) {
        for line in table.trim().lines() {
            let fields: Vec<_> = line.split('|').map(str::trim).collect();
            let [name, place, arguments] = fields[..] else {
                panic!("`{line}` has three fields");
            };
            let mut cargo = cargo_in(place);
            cargo.args(arguments.split(' '));
            let mut flags = "-D warnings".to_owned();
            if CHECKERS.contains(&place) {
                flags += &format!(" --cfg {place}");
            }
            if arguments.ends_with("--document-private-items") {
                // Inside of a crate there are shorter paths to what its users see.
                flags += " -A rustdoc::redundant_explicit_links";
            }
            match arguments.split(' ').next() {
                Some("test") => self.run(name, || tests(&mut cargo)),
                Some("clippy") => self.check(name, cargo.args(["--", "-D", "warnings"])),
                Some("doc") => self.check(name, cargo.env("RUSTDOCFLAGS", flags)),
                _ => self.check(name, &mut cargo),
            }
        }
    }

    /// Says here and in the summary that a stage does not run, because something is not installed.
    pub(crate) fn skip(&mut self, name: &str, missing: &str) {
        println!("\n== {name}\nSKIPPED: there is no {missing} here");
        let verdict = format!("SKIPPED: no {missing}");
        let row = ["-", "-", "-", name, &verdict].map(str::to_owned);
        self.rows.push(row);
    }

    /// Prints one line per stage, the remarks, the longest test, and the sum on a line of its own.
    pub(crate) fn summary(self) -> ExitCode {
        let mut table = Table::new(&[">seconds", ">passed", ">failed", "stage", ""]);
        self.rows.into_iter().for_each(|row| table.row(row));
        let seconds = self.elapsed.as_secs_f64();
        println!("\n== summary, {seconds:.1} s in all\n{table}");
        self.remarks.iter().for_each(|line| println!("{line}"));
        let (seconds, test) = &*LONGEST.lock().expect("no holder panics");
        if !test.is_empty() {
            println!("the longest test, or program of tests: {seconds:.1} s, {test}");
        }
        println!("{}", self.sum);
        self.sum.exit_code()
    }
}
