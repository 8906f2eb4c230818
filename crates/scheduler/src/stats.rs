use std::fmt;

use filch_processors::ProcessorStats;

/// What a scheduler has done since it was started.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Processes that live now.
    pub live: usize,
    /// One entry per worker.
    pub workers: Vec<WorkerStats>,
}

/// What one worker has done.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Steps of processes.
    pub steps: u64,
    /// Messages, and other events but completions, delivered.
    pub messages: u64,
    /// Commands dispatched to the handler.
    pub commands: u64,
    /// Completions delivered.
    pub completions: u64,
    /// Processes that ended here.
    pub ended: u64,
    /// Of those, the ones that did not end well.
    pub failed: u64,
    /// What its processor did to find the work.
    pub processor: ProcessorStats,
}

impl Stats {
    /// All workers together.
    pub fn total(&self) -> WorkerStats {
        self.workers
            .iter()
            .fold(WorkerStats::default(), |sum, worker| WorkerStats {
                steps: sum.steps + worker.steps,
                messages: sum.messages + worker.messages,
                commands: sum.commands + worker.commands,
                completions: sum.completions + worker.completions,
                ended: sum.ended + worker.ended,
                failed: sum.failed + worker.failed,
                processor: sum.processor + worker.processor,
            })
    }
}

/// A table for people: a line per worker, and their sum.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<7}{:>9}{:>8}{:>10}{:>10}{:>10}{:>12}{:>9}{:>8}{:>9}{:>8}{:>9}",
            "worker",
            "ended",
            "failed",
            "steps",
            "messages",
            "commands",
            "completions",
            "stolen",
            "steals",
            "in vain",
            "parks",
            "wake-ups",
        )?;
        let workers = self
            .workers
            .iter()
            .enumerate()
            .map(|(index, worker)| (index.to_string(), *worker));
        for (name, worker) in workers.chain([("all".to_owned(), self.total())]) {
            let processor = worker.processor;
            writeln!(
                f,
                "{:<7}{:>9}{:>8}{:>10}{:>10}{:>10}{:>12}{:>9}{:>8}{:>9}{:>8}{:>9}",
                name,
                worker.ended,
                worker.failed,
                worker.steps,
                worker.messages,
                worker.commands,
                worker.completions,
                processor.stolen,
                processor.steals,
                processor.failed_steals,
                processor.parks,
                processor.wake_ups,
            )?;
        }
        write!(f, "live processes: {}", self.live)
    }
}
