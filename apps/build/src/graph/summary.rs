//! The summary of a build.

use std::fmt;
use std::time::Duration;

use super::job::JobError;

/// The end of a job.
#[derive(Debug)]
pub enum Outcome {
    /// Its command ran.
    Built,
    /// Its result was known.
    Cached,
    /// It failed.
    Failed(JobError),
    /// It depends on a job that failed, or the build ended first.
    Skipped,
}

/// The summary of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Jobs whose command ran.
    pub built: usize,
    /// Jobs whose result was known.
    pub cached: usize,
    /// Jobs that failed.
    pub failed: usize,
    /// Jobs that depend on one that failed, or that had not begun when the build ended.
    pub skipped: usize,
    /// Its duration.
    pub time: Duration,
    /// The chain of dependencies that took longest: ids, the first to run first.
    pub critical_path: Vec<String>,
    /// The duration of that chain's jobs.
    pub critical_time: Duration,
}

impl Summary {
    pub(super) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Built => self.built += 1,
            Outcome::Cached => self.cached += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            built,
            cached,
            failed,
            skipped,
            time,
            ..
        } = self;
        let (time, critical) = (time.as_secs_f64(), self.critical_time.as_secs_f64());
        write!(
            f,
            "{built} built, {cached} cached, {failed} failed, {skipped} skipped"
        )?;
        write!(f, " in {time:.2} s")?;
        if !self.critical_path.is_empty() {
            let path = self.critical_path.join(" -> ");
            write!(f, "\ncritical path of {critical:.2} s: {path}")?;
        }
        Ok(())
    }
}
