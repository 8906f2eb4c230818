//! Counting words on the process scheduler: the reference example of a job with commands and
//! messages.
//!
//! ```text
//!   main thread        walks the folders, submits the processes, joins the merger, shuts down
//!        │
//!   reader × workers       ── ReadFile ──▶ disk (threads that may block)
//!        │   ▲             ◀── Block ────
//!  Chunk │   │ Counted
//!        ▼   │
//!   counter × 2·workers    tallies words
//!        │
//!        │ Tally           (and FilesRead, from each reader)
//!        ▼
//!     merger × 1           ends with the totals
//! ```
//!
//! Processes share nothing: they send each other messages. The amount of text under way is bounded,
//! because a reader reads on only when a counter has counted (see `reader`).
//!
//! Read in this order: `protocol`, `reader`, `counter`, `merger`, then `run` below. The
//! merger monitors all others, so it learns of one that fails. `source`, `walk`, `opened`, `text`,
//! `words` and `report` know nothing of the scheduler.

mod counter;
mod opened;
mod protocol;
mod reader;
mod report;
#[cfg(test)]
mod tests;
mod text;
mod walk;
mod words;

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use counter::{counter, merger};
use filch::actors::BlockingThreads;
use filch::scheduler::{
    Builder, Completion, Handle, Pid, Process, ProcessHandle, Scheduler, Submission,
};
use opened::{Entry, first, next};
use protocol::{JobError, ReadFile, Totals, WordCount};
use reader::Reader;

pub(crate) use opened::Source;
pub(crate) use report::Report;

/// The settings of the job.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Workers of the scheduler; `None`: as many as the system has cores.
    pub(crate) workers: Option<usize>,
    /// Bytes to read at a time; not zero.
    pub(crate) block: usize,
    /// Blocks that one reader may have under way, from the yield of the command to the end of the
    /// counting.
    pub(crate) window: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: None,
            block: 256 * 1024,
            window: 8,
        }
    }
}

/// The threads that read blocks of files, because a worker must not block.
const IO_THREADS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// The time that processes get to end after they were asked to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Counts the words of all named files, and of all files under the named folders.
pub(crate) fn run(roots: &[Source], settings: &Settings) -> Result<Report, Box<dyn Error>> {
    let began = Instant::now();
    let mut found = walk::walk(roots);
    let mut builder = builder(settings.block);
    if let Some(workers) = settings.workers {
        builder = builder.workers(workers);
    }
    let scheduler = builder.build()?;
    let handle = scheduler.handle();

    let outcome = count(&handle, found.entries, settings);
    let shutdown = scheduler.shutdown(PATIENCE)?;
    let stats = handle.stats();
    let totals = outcome?;
    if shutdown.aborted > 0 || !shutdown.is_clean() {
        return Err(format!("counted, but the shutdown was not clean: {shutdown}").into());
    }

    found.skipped.extend(totals.skipped);
    found.skipped.sort();
    Ok(Report {
        roots: roots.to_vec(),
        files: totals.files,
        bytes: totals.bytes,
        tally: totals.tally,
        skipped: found.skipped,
        stats,
        elapsed: began.elapsed(),
    })
}

/// Begins a scheduler whose command handler gives each read to a thread that may block.
fn builder(block: usize) -> Builder<WordCount> {
    let threads = BlockingThreads::new(IO_THREADS);
    let read = move |command: ReadFile, completion: Completion<WordCount>| {
        threads.run(completion, move || {
            let read = match command {
                ReadFile::First(entry) => first(&entry, block),
                ReadFile::Next(opened) => next(opened, block),
            };
            read.map_err(JobError::Read)
        });
    };
    Scheduler::builder().handler(read)
}

/// Submits the processes and waits for them. The last in the chain comes first, because each must
/// know the PID that it sends to.
fn count(
    scheduler: &Handle<WordCount>,
    files: Vec<Entry>,
    settings: &Settings,
) -> Result<Totals, Box<dyn Error>> {
    let workers = scheduler.workers();
    let readers = workers.min(files.len()).max(1);
    let counters = 2 * workers;

    let merger = submit(scheduler, merger(readers + counters), None)?;
    let told = Some(merger.pid());
    let mut others = Vec::with_capacity(readers + counters);
    for _ in 0..counters {
        others.push(submit(scheduler, counter(readers, merger.pid()), told)?);
    }
    let counters: Vec<Pid> = others.iter().map(ProcessHandle::pid).collect();
    for (number, share) in deal(files, readers).into_iter().enumerate() {
        let reader = Reader::new(
            share,
            counters.clone(),
            number,
            merger.pid(),
            settings.window,
        );
        others.push(submit(scheduler, reader, told)?);
    }

    // The merger monitors every process and ends when one fails, so this returns however the job
    // ends.
    let totals = merger.join()?;
    let totals = totals.ok_or("the scheduler was shut down before the job was done")?;
    for other in others {
        other.join()?;
    }
    Ok(totals)
}

/// Submits a process of which that other one is told if it fails.
fn submit(
    scheduler: &Handle<WordCount>,
    process: impl Process<WordCount> + 'static,
    told: Option<Pid>,
) -> Result<ProcessHandle<WordCount>, Box<dyn Error>> {
    let submission = scheduler.submission(process, "", ());
    let submission = told.into_iter().fold(submission, Submission::monitored_by);
    // Without the process, which is handed back.
    submission
        .submit()
        .map_err(|error| error.to_string().into())
}

/// Deals the files out like cards, so that neighbours, which are often alike in size, go to
/// different readers.
fn deal(files: Vec<Entry>, hands: usize) -> Vec<Vec<Entry>> {
    let mut dealt: Vec<Vec<Entry>> = (0..hands).map(|_| Vec::new()).collect();
    for (file, hand) in files.into_iter().zip((0..hands).cycle()) {
        dealt[hand].push(file);
    }
    dealt
}
