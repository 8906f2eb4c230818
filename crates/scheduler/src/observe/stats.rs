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
        let mut sum = WorkerStats::default();
        for worker in &self.workers {
            sum.steps += worker.steps;
            sum.messages += worker.messages;
            sum.commands += worker.commands;
            sum.completions += worker.completions;
            sum.empty_steps += worker.empty_steps;
            sum.ended += worker.ended;
            sum.failed += worker.failed;
            sum.processor = sum.processor + worker.processor;
        }
        sum
    }
}

type Column = (&'static str, usize, fn(&WorkerStats) -> u64);

/// Name, width and figure of each column.
const COLUMNS: [Column; 12] = [
    ("ended", 9, |worker| worker.ended),
    ("failed", 8, |worker| worker.failed),
    ("steps", 10, |worker| worker.steps),
    ("messages", 10, |worker| worker.messages),
    ("commands", 10, |worker| worker.commands),
    ("completions", 12, |worker| worker.completions),
    ("empty", 8, |worker| worker.empty_steps),
    ("stolen", 9, |worker| worker.processor.stolen),
    ("steals", 8, |worker| worker.processor.steals),
    ("in vain", 9, |worker| worker.processor.failed_steals),
    ("parks", 8, |worker| worker.processor.parks),
    ("wake-ups", 9, |worker| worker.processor.wake_ups),
];

/// A table for people: a line per worker, and their sum.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}", "worker")?;
        for (name, width, _) in COLUMNS {
            write!(f, "{name:>width$}")?;
        }
        let names = (0..self.workers.len()).map(|index| index.to_string());
        let total = self.total();
        let workers = self.workers.iter().chain([&total]);
        for (name, worker) in names.chain(["all".to_owned()]).zip(workers) {
            write!(f, "\n{name:<7}")?;
            for (_, width, figure) in COLUMNS {
                write!(f, "{:>width$}", figure(worker))?;
            }
        }
        let queues = &self.queues;
        write!(
            f,
            "\nlive processes: {}; runnable: {} new, {} woken, {} given way, {} of idle priority",
            self.live, queues.new, queues.woken, queues.given_way, queues.idle_priority,
        )?;
        let local: Vec<_> = queues.local.iter().map(usize::to_string).collect();
        write!(f, ", on the workers {}", local.join(" + "))?;
        match self.dropped {
            0 => Ok(()),
            dropped => write!(f, "\nmessages dropped for want of room: {dropped}"),
        }
    }
}

impl<P: Protocol> Handle<P> {
    /// Counts messages that were dropped for want of room: see [`Stats::dropped`].
    pub fn count_dropped(&self, messages: usize) {
        // ORDERING: Relaxed: a figure for people.
        let dropped = &self.shared().dropped;
        dropped.fetch_add(messages as u64, Ordering::Relaxed);
    }

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
