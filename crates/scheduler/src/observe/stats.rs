//! The figures of the workers' work.

use std::fmt;
use std::iter;

use filch_processors::{ProcessorStats, QueueLengths};
use filch_sync::atomic::Ordering;

use crate::{Handle, Protocol};

/// The figures of a scheduler since its start.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Live processes.
    pub live: usize,
    /// Messages that were dropped for want of room, by the policy of their mailbox.
    pub dropped: u64,
    /// The number of runnable processes, by queue.
    pub queues: QueueLengths,
    /// One entry per worker.
    pub workers: Vec<WorkerStats>,
}

/// The figures of one worker.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Steps of processes.
    pub steps: u64,
    /// Messages, and other events except completions, delivered.
    pub messages: u64,
    /// Commands dispatched to the handler.
    pub commands: u64,
    /// Completions delivered.
    pub completions: u64,
    /// Steps that were given no event while the process had commands under way: it said
    /// [`go_on`](crate::StepOutput::go_on) where it could have [waited](crate::StepOutput::wait).
    pub empty_steps: u64,
    /// Processes that ended here.
    pub ended: u64,
    /// Processes that ended here, and not well.
    pub failed: u64,
    /// The figures of its processor's search for work.
    pub processor: ProcessorStats,
}

impl Stats {
    /// Sums up all workers.
    pub fn total(&self) -> WorkerStats {
        self.workers
            .iter()
            .fold(WorkerStats::default(), |sum, worker| WorkerStats {
                steps: sum.steps + worker.steps,
                messages: sum.messages + worker.messages,
                commands: sum.commands + worker.commands,
                completions: sum.completions + worker.completions,
                empty_steps: sum.empty_steps + worker.empty_steps,
                ended: sum.ended + worker.ended,
                failed: sum.failed + worker.failed,
                processor: sum.processor + worker.processor,
            })
    }
}

/// Names and widths of the columns.
const COLUMNS: [(&str, usize); 12] = [
    ("ended", 9),
    ("failed", 8),
    ("steps", 10),
    ("messages", 10),
    ("commands", 10),
    ("completions", 12),
    ("empty", 8),
    ("stolen", 9),
    ("steals", 8),
    ("in vain", 9),
    ("parks", 8),
    ("wake-ups", 9),
];

impl WorkerStats {
    /// Returns the figures in the order of [`COLUMNS`].
    fn columns(&self) -> [u64; COLUMNS.len()] {
        [
            self.ended,
            self.failed,
            self.steps,
            self.messages,
            self.commands,
            self.completions,
            self.empty_steps,
            self.processor.stolen,
            self.processor.steals,
            self.processor.failed_steals,
            self.processor.parks,
            self.processor.wake_ups,
        ]
    }
}

/// A table for people: a line per worker, and their sum.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}", "worker")?;
        for (name, width) in COLUMNS {
            write!(f, "{name:>width$}")?;
        }
        let names = (0..self.workers.len()).map(|index| index.to_string());
        let total = self.total();
        let workers = self.workers.iter().chain([&total]);
        for (name, worker) in names.chain(["all".to_owned()]).zip(workers) {
            write!(f, "\n{name:<7}")?;
            for ((_, width), value) in COLUMNS.into_iter().zip(worker.columns()) {
                write!(f, "{value:>width$}")?;
            }
        }
        let queues = &self.queues;
        write!(
            f,
            "\nlive processes: {}; runnable: {} new, {} woken, {} given way, {} of idle priority",
            self.live, queues.new, queues.woken, queues.given_way, queues.idle_priority,
        )?;
        let local = queues.local.iter().map(usize::to_string);
        write!(
            f,
            ", on the workers {}",
            local.collect::<Vec<_>>().join(" + ")
        )?;
        match self.dropped {
            0 => Ok(()),
            dropped => write!(f, "\nmessages dropped for want of room: {dropped}"),
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Returns the figures so far. Each number was true at some moment during the call.
    pub fn stats(&self) -> Stats {
        let counters = self.shared().counters.iter();
        let processors = self.shared().processors.stats().into_iter();
        let workers = iter::zip(counters, processors);
        Stats {
            live: self.live(),
            // ORDERING: Relaxed: a figure for people.
            dropped: self.shared().dropped.load(Ordering::Relaxed),
            queues: self.shared().processors.queue_lengths(),
            workers: workers
                .map(|(counters, processor)| WorkerStats {
                    steps: counters.steps.get(),
                    messages: counters.messages.get(),
                    commands: counters.commands.get(),
                    completions: counters.completions.get(),
                    empty_steps: counters.empty_steps.get(),
                    ended: counters.ended.get(),
                    failed: counters.failed.get(),
                    processor,
                })
                .collect(),
        }
    }
}
