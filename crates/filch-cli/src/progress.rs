//! A progress bar on standard error, if that is a terminal and the work takes long.

use std::io::{self, Read};
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The work done, of a total. `end`, or dropping it, removes the bar.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Hidden at first. A hidden bar counts.
    bar: ProgressBar,
    began: Instant,
    /// Completed once the bar is shown.
    shown: Once,
}

/// Work shorter than this shows no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// The interval at which the bar and its times move on while no work is done.
const REDRAW: Duration = Duration::from_millis(100);

const JOBS: &str = "{wide_bar} {pos}/{len} jobs, {eta} left";
const BYTES: &str = "{wide_bar} {percent} %, {bytes_per_sec}, {eta} left";
const BYTES_WITHOUT_END: &str = "{spinner} {bytes} read, {bytes_per_sec}";

impl Progress {
    /// Makes a bar that is never shown.
    pub(crate) fn hidden() -> Self {
        let progress = Self::new(None, BYTES_WITHOUT_END);
        progress.shown.call_once(|| {});
        progress
    }

    /// Makes a bar of that many jobs.
    pub(crate) fn of_jobs(jobs: u64) -> Self {
        Self::new(Some(jobs), JOBS)
    }

    /// Makes a bar of the reading of that many bytes, if the number is known.
    pub(crate) fn of_bytes(bytes: Option<u64>) -> Self {
        Self::new(bytes, bytes.map_or(BYTES_WITHOUT_END, |_| BYTES))
    }

    fn new(length: Option<u64>, template: &str) -> Self {
        let progress = Self {
            bar: ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden()),
            began: Instant::now(),
            shown: Once::new(),
        };
        progress.look(template);
        progress
    }

    fn look(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Adds work done. If the sum exceeds the total, the total is unknown.
    pub(crate) fn add(&self, done: u64) {
        self.bar.inc(done);
        let length = self.bar.length();
        if length.is_some_and(|length| self.bar.position() > length) {
            self.bar.unset_length();
            self.look(BYTES_WITHOUT_END);
        }
        if self.began.elapsed() > SHOWN_AFTER {
            self.show_on(ProgressDrawTarget::stderr);
        }
    }

    /// Lowers the total.
    pub(crate) fn expect_less(&self, by: u64) {
        self.bar.dec_length(by);
    }

    /// Shows the bar, if it is not shown yet. indicatif draws nothing if standard error is no
    /// terminal.
    fn show_on(&self, target: impl FnOnce() -> ProgressDrawTarget) {
        self.shown.call_once(|| {
            self.bar.set_draw_target(target());
            if !self.bar.is_hidden() {
                self.bar.enable_steady_tick(REDRAW);
            }
        });
    }

    /// Removes the bar: no more work will be done.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Adds the bytes that are read.
    pub(crate) fn reads<R: Read>(&self, from: R) -> impl Read {
        Counted {
            from,
            progress: self,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

struct Counted<'progress, R> {
    from: R,
    progress: &'progress Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.from.read(buffer)?;
        self.progress.add(bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;
    use indicatif::{InMemoryTerm, ProgressDrawTarget};
    use std::io::Read;

    /// Returns the text on a terminal of 80 columns.
    fn shown(progress: &Progress) -> String {
        let terminal = InMemoryTerm::new(3, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        progress.show_on(|| target);
        progress.bar.disable_steady_tick();
        progress.bar.tick();
        terminal.contents()
    }

    #[test]
    fn bytes_of_a_known_number_have_a_percentage_and_an_end() {
        let progress = Progress::of_bytes(Some(4_096));
        progress.add(1_024);
        let line = shown(&progress);
        assert!(
            line.contains(" 25 %, ") && line.ends_with(" left"),
            "{line}"
        );
    }

    #[test]
    fn what_will_not_be_read_is_no_part_of_it() {
        let progress = Progress::of_bytes(Some(4_096));
        progress.add(1_024);
        progress.expect_less(2_048);
        let line = shown(&progress);
        assert!(line.contains(" 50 %, "), "{line}");
    }

    #[test]
    fn bytes_of_an_unknown_number_have_a_rate_and_no_percentage() {
        let progress = Progress::of_bytes(None);
        let read = progress.reads(&[0; 2_048][..]).read_to_end(&mut Vec::new());
        assert_eq!(read.unwrap(), 2_048);
        let line = shown(&progress);
        assert!(
            line.contains("2.00 KiB read, ") && line.ends_with("/s"),
            "{line}"
        );
        assert!(!line.contains('%'), "{line}");
    }

    #[test]
    fn bytes_beyond_the_end_make_the_number_unknown() {
        let progress = Progress::of_bytes(Some(1_024));
        progress.add(1_024);
        assert!(shown(&progress).contains(" 100 %, "));
        let progress = Progress::of_bytes(Some(1_024));
        progress.add(1_025);
        let line = shown(&progress);
        assert!(
            line.contains("1.00 KiB read, ") && !line.contains('%'),
            "{line}"
        );
    }

    #[test]
    fn jobs_are_counted() {
        let progress = Progress::of_jobs(8);
        progress.add(2);
        let line = shown(&progress);
        assert!(line.contains(" 2/8 jobs, "), "{line}");
    }

    #[test]
    fn a_hidden_one_shows_nothing() {
        let progress = Progress::hidden();
        progress.add(1);
        assert_eq!(shown(&progress), "");
    }
}
