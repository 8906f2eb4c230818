//! A progress bar on standard error, if that is a terminal and the simulation takes long.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How many jobs have ended, of all simulations. Dropping it removes the bar.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    began: Instant,
}

/// Simulations shorter than this show no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// A job takes less than a microsecond: a bar that counts each would take longer.
pub(super) const AT_A_TIME: u64 = 4_096;

impl Progress {
    pub(super) fn of(jobs: u64) -> Self {
        // A hidden bar counts; indicatif shows none where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(Some(jobs), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} jobs, {eta}") {
            bar.set_style(style);
        }
        Self {
            bar,
            began: Instant::now(),
        }
    }

    /// Some more jobs have ended.
    pub(super) fn add(&self, jobs: u64) {
        self.bar.inc(jobs);
        if self.bar.is_hidden() && self.began.elapsed() > SHOWN_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
