//! The figures of the workers' work.

use std::{fmt, iter};

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

/// A column's name, and its figure.
type Column = (&'static str, fn(&WorkerStats) -> u64);

/// The columns of the table for people.
const COLUMNS: [Column; 12] = [
    ("ended", |worker| worker.ended),
    ("failed", |worker| worker.failed),
    ("steps", |worker| worker.steps),
    ("messages", |worker| worker.messages),
    ("commands", |worker| worker.commands),
    ("completions", |worker| worker.completions),
    ("empty", |worker| worker.empty_steps),
    ("stolen", |worker| worker.processor.stolen),
    ("steals", |worker| worker.processor.steals),
    ("in vain", |worker| worker.processor.failed_steals),
    ("parks", |worker| worker.processor.parks),
    ("wake-ups", |worker| worker.processor.wake_ups),
];

/// The width of the column of that name.
fn width(name: &str) -> usize {
    name.len().max(7) + 2
}

/// A table for people: a line per worker, and their sum.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}", "worker")?;
        for (name, _) in COLUMNS {
            write!(f, "{name:>0$}", width(name))?;
        }
        let names = (0..self.workers.len()).map(|index| index.to_string());
        let total = self.total();
        let workers = self.workers.iter().chain([&total]);
        for (worker, figures) in names.chain(["all".to_owned()]).zip(workers) {
            write!(f, "\n{worker:<7}")?;
            for (name, figure) in COLUMNS {
                write!(f, "{:>1$}", figure(figures), width(name))?;
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
