//! Looks at the queues' lengths, and at processors and machines by words that are there anyway, so
//! that nothing is paid between two looks; comparing two tells if anything has changed in between,
//! and how long a thread has been in the same user code.

use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use filch_parker::{Parker, Unparker};
use filch_sync::panic::catch_panic;
use filch_sync::{lock, thread};

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{Activity, EXTERNAL_TASK, task_label};

/// A look at a machine that has a thread, or at a guest.
pub(crate) struct Look {
    /// The number of the machine; of a guest, the one that it stands in for.
    pub(crate) machine: usize,
    pub(crate) is_guest: bool,
    pub(crate) activity: Activity,
    /// The label that it shows.
    pub(crate) shown: u64,
    /// The processor that it runs on, or waits with.
    pub(crate) processor: Option<usize>,
    /// The time in the same task, call or wait: exact for a call, else a lower bound. `None` at the
    /// first look.
    pub(crate) since: Option<Duration>,
}

impl<T: Send + 'static> Processors<T> {
    /// Returns what all machines are doing, and then the guests.
    pub(crate) fn look_at_all(&self) -> Vec<Look> {
        let coordinator = &self.shared.coordinator;
        let now = Instant::now();
        // Before the counts are read: a task that is shown is the last one that was counted.
        let words: Vec<_> = coordinator
            .all_machines()
            .map(|public| (public, public.activity(), public.task.get()))
            .collect();
        let processors: Vec<_> = self.shared.queues.in_reach().collect();
        let shown: Vec<u64> = processors.iter().map(|there| there.guest.get()).collect();
        let mut progress = lock(&self.progress);
        let since: Vec<Option<Duration>> = (processors.iter().enumerate())
            .map(|(number, processor)| {
                let run = processor.counters.snapshot().run_in_all();
                progress.processors.look(number, run, now)
            })
            .collect();
        // The first processor that each machine has: one that came since has none.
        let mut had = vec![None; words.len()];
        let synced = coordinator.synced();
        for number in (0..processors.len()).rev() {
            if synced.inactive[number].is_none()
                && let Some(first) = had.get_mut(coordinator.attached(number))
            {
                *first = Some(number);
            }
        }
        drop(synced);
        let mut looks = Vec::new();
        for (machine, (public, (activity, changes), shown)) in words.into_iter().enumerate() {
            let unmoved = progress.machines.look(machine, changes, now);
            let processor: Option<usize> = had[machine];
            let since = match activity {
                Activity::Gone => continue,
                Activity::Parked => None,
                Activity::Waits => unmoved,
                Activity::Blocks => Some(public.blocks_for(now)),
                Activity::Runs => processor.map_or(unmoved, |number| since[number].min(unmoved)),
            };
            looks.push(Look {
                machine,
                is_guest: false,
                activity,
                shown,
                processor,
                since,
            });
        }
        let guests = shown
            .into_iter()
            .enumerate()
            .filter(|(_, shown)| *shown != 0);
        looks.extend(guests.map(|(processor, shown)| Look {
            machine: coordinator.attached(processor),
            is_guest: true,
            activity: Activity::Runs,
            shown,
            processor: Some(processor),
            since: since[processor],
        }));
        looks
    }
}

/// The number of tasks in each queue, without tasks that are bound to a thread; from
/// [`Processors::queue_lengths`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueLengths {
    /// New tasks in the global queue.
    pub new: usize,
    /// Tasks in the global queue that were woken from outside.
    pub woken: usize,
    /// Tasks that have given way to all others.
    pub given_way: usize,
    /// Tasks that wait until there is nothing else to do.
    pub idle_priority: usize,
    /// Tasks in each processor's deque.
    pub local: Vec<usize>,
}

impl QueueLengths {
    /// Counts all of them.
    pub fn total(&self) -> usize {
        let local: usize = self.local.iter().sum();
        self.new + self.woken + self.given_way + self.idle_priority + local
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Returns how many tasks wait in each of the queues just now, one after the other. Wait-free,
    /// except for memory, and disturbs nothing: some loads for each queue.
    pub fn queue_lengths(&self) -> QueueLengths {
        let queues = &self.shared.queues;
        let (new, woken) = queues.global.lengths();
        let local = queues.in_reach();
        QueueLengths {
            new,
            woken,
            given_way: queues.yielded.len(),
            idle_priority: queues.idle_priority.len(),
            local: local.map(|processor| processor.stealer.len()).collect(),
        }
    }
}

/// Looks that the watchdog takes in each limit.
const LOOKS: u32 = 4;

/// A thread of a pool that is in user code; from [`Processors::running`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningTask {
    /// The thread's name, as a debugger shows it; of a [guest](Processors::run_awaited), which is
    /// none of the pool's threads, the name of the one that it stands in for.
    pub thread: String,
    /// The kind of user code.
    pub inside: Inside,
    /// The [label](crate::Runner::label) of the task, if it is one that has one.
    pub label: Option<NonZeroU64>,
    /// The time in it: exact in a blocking call, else a lower bound.
    pub elapsed: Duration,
}

/// The kind of user code that a thread of a pool is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inside {
    /// A task.
    Task,
    /// An external task of the pool's [source](crate::Source).
    ExternalTask,
    /// A [`blocking`](Processors::blocking) call of a task or an external task.
    BlockingCall,
    /// The end of the thread, of a pool that is over: the destructors of its scratch and, in the
    /// last one, of the [runner](crate::Runner).
    End,
}

impl<T: Send + 'static> Processors<T> {
    /// The threads that are in the middle of a task or an external task, of a blocking call, or of
    /// their last destructors. Takes some locks for a moment, and disturbs nothing else.
    ///
    /// The time of a task is known from the first look on that found it: call this, or
    /// [`dump`](Self::dump), twice.
    pub fn running(&self) -> Vec<RunningTask> {
        let is_over = self.shared.coordinator.is_over();
        let running = self.look_at_all().into_iter().filter_map(|look| {
            let inside = match look.activity {
                Activity::Gone | Activity::Parked | Activity::Waits => return None,
                Activity::Blocks => Inside::BlockingCall,
                Activity::Runs if look.is_guest => Inside::Task,
                Activity::Runs if is_over => Inside::End,
                Activity::Runs => match look.shown {
                    // It searches, or is between two tasks.
                    0 => return None,
                    EXTERNAL_TASK => Inside::ExternalTask,
                    _ => Inside::Task,
                },
            };
            let name = self.name(look.machine);
            Some(RunningTask {
                thread: match look.is_guest {
                    true => format!("a guest of {name}"),
                    false => name,
                },
                inside,
                label: task_label(look.shown),
                elapsed: look.since.unwrap_or_default(),
            })
        });
        running.collect()
    }

    /// Starts one more thread, which calls `call` once for each task that has lasted longer than
    /// `limit`, while it still runs. Tasks pay nothing: the thread looks four times in each limit,
    /// and so comes up to half a limit late. A task that [blocks](Self::blocking) counts anew when
    /// it is back; one that forks, with each external task that its thread runs. External tasks and
    /// tasks without a label are not reported. A panic in `call` is contained.
    ///
    /// The thread ends with the pool. Blocking, while it is started; does nothing if there is one.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn watch_tasks(
        pool: &Arc<Self>,
        limit: Duration,
        mut call: impl FnMut(RunningTask) + Send + 'static,
    ) -> io::Result<()> {
        let mut told: Vec<String> = Vec::new();
        Self::start_lookout(pool, "watchdog", &pool.watchdog, move |pool, parker| {
            let mut overdue = pool.running();
            overdue.retain(|task| {
                task.inside == Inside::Task && task.label.is_some() && task.elapsed >= limit
            });
            let names = overdue.iter().map(|task| task.thread.clone()).collect();
            // A task that has taken its place on the thread since is not overdue yet.
            let before = std::mem::replace(&mut told, names);
            overdue.retain(|task| !before.contains(&task.thread));
            for task in overdue {
                // It is the user's, and what it says is lost.
                let _ = catch_panic(|| call(task));
            }
            parker.park_timeout(limit / LOOKS);
        })
    }

    /// Starts a thread of the pool that runs no tasks, but calls `look` again and again, until the
    /// pool is over, when its `unparker` is used. Does nothing if there is one, or the pool is
    /// over.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(crate) fn start_lookout(
        pool: &Arc<Self>,
        name: &str,
        unparker: &OnceLock<Unparker>,
        mut look: impl FnMut(&Self, &Parker) + Send + 'static,
    ) -> io::Result<()> {
        let _one_at_a_time = lock(&pool.handles.resizing);
        if unparker.get().is_some() || pool.shared.coordinator.is_over() {
            return Ok(());
        }
        let parker = Parker::new();
        let to_wake = parker.unparker();
        let name = format!("{}-{name}", pool.config.thread_name);
        let main = {
            let pool = Arc::clone(pool);
            move || {
                while !pool.shared.coordinator.is_over() {
                    look(&pool, &parker);
                }
            }
        };
        let start = || thread::Builder::new().name(name).spawn(main);
        pool.handles.start(usize::MAX, start)?;
        let to_wake = unparker.get_or_init(|| to_wake);
        // It may have been over before there was anybody to be woken.
        if pool.shared.coordinator.is_over() {
            let _ = to_wake.unpark();
        }
        Ok(())
    }
}
