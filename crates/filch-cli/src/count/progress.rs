//! A progress bar on standard error, if that is a terminal and the job takes long.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::protocol::{Block, JobError};

/// How much has been read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Counts what one command has read, or that its file ended in an error.
    pub(crate) fn add(&self, result: &Result<Block, JobError>) {
        let (ended, bytes) = match result {
            Ok(block) => (block.rest.is_none(), block.bytes.len()),
            Err(_) => (true, 0),
        };
        // ORDERING: Relaxed, here and in `draw`: figures for the eye, which carry no other data.
        self.files.fetch_add(u64::from(ended), Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The thread that shows the bar. Dropping it removes the bar.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Dropped to end the thread.
    until: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Jobs shorter than this show no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// Shows the progress through `files` files once the job has taken a second; not at all if standard
/// error is no terminal.
pub(crate) fn show(progress: &Arc<Progress>, files: usize) -> Option<Shown> {
    if !stderr().is_terminal() {
        return None;
    }
    let (until, ended) = channel();
    let progress = Arc::clone(progress);
    // Without the thread there is no bar; the job goes on.
    let thread = thread::Builder::new()
        .name("filch-progress".to_owned())
        .spawn(move || draw(&progress, files as u64, &ended))
        .ok()?;
    Some(Shown {
        until: Some(until),
        thread: Some(thread),
    })
}

fn draw(progress: &Progress, files: u64, ended: &Receiver<()>) {
    let still_counting =
        |within| matches!(ended.recv_timeout(within), Err(RecvTimeoutError::Timeout));
    if !still_counting(SHOWN_AFTER) {
        return;
    }
    let bar = ProgressBar::new(files);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} files, {msg}") {
        bar.set_style(style);
    }
    while still_counting(REDRAW) {
        // ORDERING: Relaxed: see `add`.
        bar.set_position(progress.files.load(Ordering::Relaxed));
        let bytes = progress.bytes.load(Ordering::Relaxed);
        bar.set_message(indicatif::HumanBytes(bytes).to_string());
    }
    bar.finish_and_clear();
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.until = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, only the bar is missing.
            let _ = thread.join();
        }
    }
}
