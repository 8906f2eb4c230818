//! The progress of a build on the terminal.

use indicatif::{ProgressBar, ProgressStyle};

use super::build::Watch;
use super::job::Job;
use super::summary::Outcome;

/// Shows a build on the terminal: a bar, and the standard error of commands.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    running: Vec<String>,
    cached: usize,
}

impl Bar {
    /// Makes a bar for that many jobs.
    pub fn new(jobs: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
        let bar = ProgressBar::new(jobs as u64);
        bar.set_style(style.expect("the template is right"));
        Self {
            bar,
            running: Vec::new(),
            cached: 0,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        let names = self.running.join(", ");
        self.bar
            .set_message(format!("{} cached; {names}", self.cached));
    }

    /// Prints above the bar; also if there is no terminal.
    fn print(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }
}

impl Watch for Bar {
    fn started(&mut self, job: &Job) {
        self.running.push(job.id().to_owned());
        self.show();
    }

    fn ended(&mut self, job: &Job, outcome: &Outcome, stderr: &[u8]) {
        self.running.retain(|id| id != job.id());
        match outcome {
            Outcome::Cached => self.cached += 1,
            Outcome::Failed(error) => self.print(&format!("job {:?} failed: {error}", job.id())),
            Outcome::Skipped => self.print(&format!("job {:?} is skipped", job.id())),
            Outcome::Built => {}
        }
        if !stderr.is_empty() && !matches!(outcome, Outcome::Cached) {
            self.print(String::from_utf8_lossy(stderr).trim_end());
        }
        self.bar.inc(1);
        self.show();
    }
}
