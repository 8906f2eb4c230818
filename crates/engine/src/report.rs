//! The present state of an engine, for people.

use std::fmt;

use filch_event_queue::Depth;
use filch_sync::atomic::Ordering;
use filch_sync::lock;

use crate::data::Request;
use crate::error::Exit;
use crate::worker::public::{Public, Stage, WaitsFor};

/// The present state of an engine. Its `Display` is a line for each worker.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every scheduler, even one that has ended.
    pub schedulers: Vec<SchedulerReport>,
}

/// The present state of a scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerReport {
    /// Its name.
    pub name: String,
    /// Set if it has been terminated.
    pub is_terminated: bool,
    /// The messages in its queue: tasks, of which a worker gets as many as it runs in a turn. The
    /// workers' `queued` does not count them yet. Exact if they are few, else a lower bound.
    pub messages: Depth,
    /// The rounds of its main loop.
    pub rounds: u64,
    /// The times that it blocked, as there was nothing to do.
    pub rests: u64,
    /// The tasks that it has taken from its queue and handed out.
    pub tasks: u64,
    /// The workers that have not ended.
    pub workers: Vec<WorkerReport>,
    /// The number of workers that have ended.
    pub ended: u64,
    /// The last 16 of those, oldest first: each says why.
    pub last_ended: Vec<WorkerReport>,
}

/// The present state of a worker.
#[derive(Clone, Debug)]
pub struct WorkerReport {
    /// Its name.
    pub name: String,
    /// The stage of its life.
    pub stage: Stage,
    /// The reason of its end, if it has ended.
    pub exit: Option<Exit>,
    /// The thing that it waits for, if any.
    pub waits_for: Option<WaitsFor>,
    /// The data that it has locked, of the first 64 different sets that its functions take.
    pub holds: Vec<Request>,
    /// The tasks that it was handed and has not begun.
    pub queued: usize,
    /// The tasks that it has run.
    pub ran: u64,
    /// The times that it gave way because data was locked.
    pub gave_way: u64,
    /// The tasks that it did not get because their `clone` panicked.
    pub missed: u64,
    /// The tasks that it did not get because there was no [room](crate::Worker::room).
    pub refused: u64,
}

impl WorkerReport {
    pub(crate) fn of(public: &Public) -> Self {
        // ORDERING: Relaxed: for people.
        let queued = public.queued.load(Ordering::Relaxed);
        Self {
            name: public.name.clone(),
            stage: public.stage(),
            exit: public.exit(),
            waits_for: *lock(&public.waits_for),
            holds: public.held(),
            queued,
            ran: public.ran.get(),
            gave_way: public.gave_way.get(),
            missed: public.missed.get(),
            refused: public.refused.get(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for scheduler in &self.schedulers {
            let state = if scheduler.is_terminated {
                ", terminated"
            } else {
                ""
            };
            let SchedulerReport {
                name,
                messages,
                rounds,
                rests,
                tasks,
                ended,
                ..
            } = scheduler;
            writeln!(
                f,
                "scheduler {name}{state}: {messages} in its queue, {rounds} rounds, {rests} rests, \
                 {tasks} tasks; {ended} workers have ended"
            )?;
            for worker in scheduler.last_ended.iter().chain(&scheduler.workers) {
                write!(f, "  {worker}")?;
                if let Some(WaitsFor::Lock(wanted)) = worker.waits_for {
                    let holders = self.holders(&wanted).map(|holder| &*holder.name);
                    write!(f, ", held by {}", holders.collect::<Vec<_>>().join(", "))?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl Report {
    /// Returns the workers that have locked data in a way that excludes this request.
    pub fn holders(&self, wanted: &Request) -> impl Iterator<Item = &WorkerReport> {
        let schedulers = self.schedulers.iter();
        let workers = schedulers.flat_map(|scheduler| &scheduler.workers);
        workers.filter(|worker| worker.holds.iter().any(|held| held.excludes(wanted)))
    }
}

impl fmt::Display for WorkerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            stage,
            queued,
            ran,
            gave_way,
            ..
        } = self;
        write!(
            f,
            "{name}: {stage:?}, {queued} queued, {ran} ran, gave way {gave_way} times"
        )?;
        if let Some(exit) = &self.exit {
            return write!(f, ", ended: {exit}");
        }
        for held in &self.holds {
            write!(f, ", holds {held}")?;
        }
        match self.waits_for {
            None => Ok(()),
            Some(WaitsFor::Lock(request)) => write!(f, ", waits to lock {request}"),
            Some(WaitsFor::Owner(data)) => write!(f, ", waits for an owner of {data}"),
            Some(WaitsFor::Users(data)) => write!(f, ", waits until nobody uses {data}"),
            Some(WaitsFor::Task(task)) => write!(f, ", waits for the end of {task}"),
            Some(WaitsFor::Receive(task)) => write!(f, ", waits to receive {task}"),
            Some(WaitsFor::Condition) => write!(f, ", waits for a condition"),
            Some(WaitsFor::After) => write!(f, ", waits for another worker's turn"),
        }
    }
}
