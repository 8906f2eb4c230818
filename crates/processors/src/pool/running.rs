//! Which threads are in the middle of something, for a caller that waits for them no longer.

use filch_sync::lock;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{A_PIECE, Activity, task_label};

/// What a thread of a pool is in the middle of; from [`Processors::running`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningTask {
    /// The thread's name, as a debugger shows it; of a [guest](Processors::run_awaited), which is
    /// none of the pool's threads, the name of the one that it stands in for.
    pub thread: String,
    /// What it is in.
    pub inside: Inside,
    /// The [label](crate::Runner::label) of the task, if it is one that has one.
    pub label: Option<NonZeroU64>,
    /// For how long: in a blocking call exactly, else at least, as [`Processors::running`] says.
    pub elapsed: Duration,
}

/// What user code a thread of a pool is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inside {
    /// A task.
    Task,
    /// A piece of the pool's [source](crate::Source).
    Piece,
    /// A [`blocking`](Processors::blocking) call of a task or a piece.
    BlockingCall,
    /// The end of the thread, of a pool that is over: the destructors of its scratch and, in the
    /// last one, of the [runner](crate::Runner).
    End,
}

impl<T: Send + 'static> Processors<T> {
    /// The threads that are in the middle of a task or a piece, of a blocking call, or of their
    /// last destructors. Takes some locks for a moment, and disturbs nothing else.
    ///
    /// How long a task has run is known from the first look on that found it: call this, or
    /// [`dump`](Self::dump), twice.
    pub fn running(&self) -> Vec<RunningTask> {
        let coordinator = &self.shared.coordinator;
        let is_over = coordinator.is_over();
        let now = Instant::now();
        let looks: Vec<_> = (coordinator.machines.iter().map_while(OnceLock::get))
            .map(|public| {
                let (activity, changes) = public.activity();
                // Before the counts are read: a task that is seen
                // here is the last one that was counted, and not the one before it.
                let label = public.task.get();
                (public, activity, changes, label)
            })
            .collect();
        let stats = self.stats();
        let mut progress = lock(&self.progress);
        let since: Vec<Option<Duration>> = (stats.iter().enumerate())
            .map(|(processor, stats)| progress.processors.look(processor, stats.run_in_all(), now))
            .collect();
        let guests: Vec<_> = (self.shared.queues.processors.iter().zip(&since).enumerate())
            .filter(|(_, (processor, _))| processor.guest.get() != 0)
            .map(|(number, (processor, since))| RunningTask {
                thread: format!(
                    "a guest of {}-{}",
                    self.config.thread_name,
                    coordinator.attached(number)
                ),
                inside: Inside::Task,
                label: task_label(processor.guest.get()),
                elapsed: since.unwrap_or_default(),
            })
            .collect();
        let running = looks.into_iter().enumerate().filter_map(|(machine, look)| {
            let (public, activity, changes, label) = look;
            let unmoved = progress.machines.look(machine, changes, now);
            let mut attached =
                (0..since.len()).filter(|&processor| coordinator.attached(processor) == machine);
            let (inside, elapsed) = match activity {
                Activity::Gone | Activity::Parked | Activity::Waits => return None,
                Activity::Blocks => (Inside::BlockingCall, Some(public.blocks_for(now))),
                Activity::Runs if is_over => (Inside::End, unmoved),
                // It searches, or is between two tasks.
                Activity::Runs if label == 0 => return None,
                Activity::Runs => {
                    let same = attached
                        .next()
                        .map_or(unmoved, |processor| since[processor]);
                    let inside = match label {
                        A_PIECE => Inside::Piece,
                        _ => Inside::Task,
                    };
                    (inside, same.min(unmoved))
                }
            };
            Some(RunningTask {
                thread: format!("{}-{machine}", self.config.thread_name),
                inside,
                label: task_label(label),
                elapsed: elapsed.unwrap_or_default(),
            })
        });
        running.chain(guests).collect()
    }
}
