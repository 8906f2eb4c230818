//! Text on the state of every processor and thread, for a person with a hung system.

use filch_sync::lock;
use std::fmt;
use std::time::Duration;

use crate::observe::lengths::QueueLengths;
use crate::observe::look::MachineLook;
use crate::pool::processors::Processors;
use crate::protocol::state::binding::BoundId;
use crate::protocol::state::grant::{A_PIECE, Activity, task_label};
use crate::protocol::threads::ThreadStats;
use crate::stats::ProcessorStats;

/// A snapshot of a pool, for printing; made by [`Processors::dump`].
///
/// Taken piece by piece while everything goes on: two lines may contradict each other if something
/// happened between them. In a pool that hangs nothing does.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
pub struct Dump {
    stopping: bool,
    active: usize,
    searching: usize,
    /// Idle processors, the next to be woken first.
    idle: Vec<usize>,
    queues: QueueLengths,
    /// `true` if the source is empty; `None` if there is none.
    source: Option<bool>,
    processors: Vec<ProcessorLine>,
    machines: Vec<MachineLine>,
    threads: ThreadStats,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
struct ProcessorLine {
    number: usize,
    inactive: bool,
    machine: String,
    /// The machine that watches it.
    watcher: Option<String>,
    /// The task that a guest runs on it.
    guest: Option<String>,
    tasks: usize,
    stats: ProcessorStats,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
struct MachineLine {
    name: String,
    activity: &'static str,
    /// The task that it runs, or whose blocking call it is in.
    task: Option<String>,
    processor: Option<usize>,
    /// The least time that it has been in the same task or call.
    since: Option<Duration>,
    bound: Option<Bound>,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
struct Bound {
    waiting: usize,
    /// The names of the first of them.
    names: Vec<String>,
}

/// One bound machine, copied from under the lock.
struct Binding {
    machine: usize,
    id: BoundId,
    waits: bool,
}

/// The largest number of names in one line, of tasks that wait for a thread.
const MAX_NAMES: usize = 8;

impl<T: Send + 'static> Processors<T> {
    /// Returns what every processor and thread is doing now. Takes some locks for a moment, and
    /// disturbs nothing else.
    ///
    /// Tasks in queues are counted, not shown: only a thread that takes a task out can look at it.
    /// Tasks that run, block, or wait for their thread are named as
    /// [`Runner::label`](crate::Runner::label) says. **Take two dumps**, some seconds apart: the
    /// second one says which threads have been in the same task, or the same blocking call, ever
    /// since the first.
    ///
    /// ```
    /// # use filch_processors::{Config, Processors};
    /// let pool = Processors::<u8>::new(Config::default().processors(2))?;
    /// pool.inject(7);
    /// println!("{}", pool.dump());
    /// # assert!(pool.dump().to_string().contains("global queue: 1"));
    /// # Ok::<(), filch_processors::StartError>(())
    /// ```
    pub fn dump(&self) -> Dump {
        let coordinator = &self.shared.coordinator;
        let queues = &self.shared.queues;
        let (idle, searching) = coordinator.idle.list();
        let control = coordinator.control_word();
        let (inactive, bindings) = {
            let synced = coordinator.synced();
            let inactive: Vec<bool> = synced.inactive.iter().map(Option::is_some).collect();
            let bindings = synced.bindings.iter().map(|binding| Binding {
                machine: binding.machine,
                id: binding.id,
                waits: binding.waits,
            });
            let bindings: Vec<_> = bindings.collect();
            (inactive, bindings)
        };
        let lengths = self.queue_lengths();
        let (machines, guests) = self.look_at_all();
        let runner = lock(&self.runner).clone();
        let describe = |label| match &runner {
            Some(runner) => runner.describe(label),
            None => format!("task {label}"),
        };
        let name_of = |task: &T| Some(describe(runner.as_ref()?.label(task)?));
        let task_of = |shown| match shown {
            A_PIECE => Some("a piece of the source".to_owned()),
            label => task_label(label).map(describe),
        };
        let guest_of = |processor| {
            let guest = guests.iter().find(|guest| guest.processor == processor)?;
            Some(task_label(guest.shown).map_or_else(|| "a task".to_owned(), describe))
        };
        let processors = (self.stats().into_iter().enumerate())
            .map(|(number, stats)| ProcessorLine {
                number,
                inactive: inactive[number],
                machine: self.name(coordinator.attached(number)),
                watcher: coordinator
                    .watcher(number)
                    .map(|machine| self.name(machine)),
                guest: guest_of(number),
                tasks: lengths.local.get(number).copied().unwrap_or_default(),
                stats,
            })
            .collect();
        let line = |look: MachineLook| {
            let of_machine = |binding: &&Binding| binding.machine == look.machine;
            let binding = bindings.iter().find(of_machine);
            let (activity, processor) = match look.activity {
                Activity::Gone => return None,
                Activity::Runs => ("runs", look.processor),
                Activity::Parked if binding.is_some_and(|binding| binding.waits) => {
                    ("waits for a task that is bound to it", None)
                }
                Activity::Parked => ("parked", look.processor),
                Activity::Blocks => ("in a blocking call", None),
                Activity::Waits => ("back from a blocking call, waits for a processor", None),
            };
            let bound = binding.map(|binding| {
                let tasks = &self.shared.bound_tasks;
                let (waiting, names) = tasks.waiting(binding.id, MAX_NAMES, name_of);
                Bound { waiting, names }
            });
            Some(MachineLine {
                name: self.name(look.machine),
                activity,
                task: task_of(look.shown),
                processor,
                since: look.since,
                bound,
            })
        };
        Dump {
            stopping: control.is_stopping(),
            active: control.active(),
            searching,
            idle,
            queues: lengths,
            source: (queues.source.is_attached()).then(|| queues.source.is_empty()),
            processors,
            machines: machines.into_iter().filter_map(line).collect(),
            threads: self.threads(),
        }
    }

    pub(crate) fn name(&self, machine: usize) -> String {
        format!("{}-{machine}", self.config.thread_name)
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} processors, {} idle, {} searching{}; global queue: {} and {} woken, given way: {}, \
             idle priority: {}{}",
            self.active,
            self.idle.len(),
            self.searching,
            if self.stopping { ", stopping" } else { "" },
            self.queues.new,
            self.queues.woken,
            self.queues.given_way,
            self.queues.idle_priority,
            match self.source {
                None => "",
                Some(true) => ", source: empty",
                Some(false) => ", source: not empty",
            },
        )?;
        for processor in &self.processors {
            processor.write(f, self.idle.contains(&processor.number))?;
        }
        let threads = &self.threads;
        writeln!(
            f,
            "{} threads (at most {} and those bound, {} started so far, {} refused): {} spare, \
             {} bound, {} in blocking calls, {} of them back and waiting",
            threads.threads,
            threads.limit,
            threads.started,
            threads.refused,
            threads.spares,
            threads.bound,
            threads.blocking,
            threads.waiting
        )?;
        self.machines.iter().try_for_each(|line| line.write(f))
    }
}

impl ProcessorLine {
    fn write(&self, f: &mut fmt::Formatter<'_>, idle: bool) -> fmt::Result {
        let stats = &self.stats;
        write!(f, "  processor {}: ", self.number)?;
        if self.inactive {
            f.write_str("inactive")?;
        } else if idle {
            write!(f, "idle, with {}", self.machine)?;
        } else {
            write!(f, "held by {}", self.machine)?;
        }
        if let Some(task) = &self.guest {
            write!(f, ", where a guest runs {task}")?;
        }
        if let Some(watcher) = &self.watcher {
            write!(f, ", watched by {watcher}")?;
        }
        writeln!(
            f,
            ", deque: {}; run {}, pieces {}, looks {}, rotated {}, \
             balanced {}, panicked {}, stolen {} in {} steals, parks {}, wake-ups {}, lent {}, \
             blocking calls {}, kept in {}",
            self.tasks,
            stats.run,
            stats.pieces,
            stats.looks,
            stats.rotated,
            stats.balanced,
            stats.panicked,
            stats.stolen,
            stats.steals,
            stats.parks,
            stats.wake_ups,
            stats.lent,
            stats.blocking_calls,
            stats.blocked_in_place
        )
    }
}

impl MachineLine {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}: {}", self.name, self.activity)?;
        if let Some(task) = &self.task {
            write!(f, " ({task})")?;
        }
        if let Some(processor) = self.processor {
            write!(f, ", processor {processor}")?;
        }
        if let Some(since) = self.since {
            write!(f, ", the same for {:.1} s at least", since.as_secs_f64())?;
        }
        if let Some(bound) = &self.bound {
            write!(f, ", bound; waiting for it: {}", bound.waiting)?;
            if !bound.names.is_empty() {
                write!(f, " ({})", bound.names.join(", "))?;
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use crate::pool::config::Config;
    use crate::pool::processors::Processors;
    use crate::pool::runner::Runner;

    /// Runs a task by scheduling the next, until it is over.
    struct Chain {
        over: AtomicBool,
    }

    impl Runner<()> for Chain {
        type Scratch = ();

        fn scratch(&self, _machine: usize) {}

        fn run(&self, (): (), pool: &Arc<Processors<()>>, (): &mut ()) {
            if !self.over.load(Ordering::Relaxed) {
                pool.schedule(());
            }
        }
    }

    /// A failure: it hangs, because no machine is shown to watch, or because a machine goes on
    /// watching beside an idle processor.
    #[test]
    fn a_watch_is_shown_and_ends_when_nothing_runs() {
        let pool = Processors::new(Config::default().processors(2)).unwrap();
        let chain = Arc::new(Chain {
            over: AtomicBool::new(false),
        });
        let machines = Processors::start(&pool, Arc::clone(&chain)).unwrap();
        pool.inject(());
        let shown = |dump: &str| {
            dump.contains("held by filch-0, watched by filch-1")
                || dump.contains("held by filch-1, watched by filch-0")
        };
        while !shown(&pool.dump().to_string()) {
            thread::yield_now();
        }
        chain.over.store(true, Ordering::Relaxed);
        let coordinator = &pool.shared.coordinator;
        while (0..2).any(|processor| coordinator.is_watched(processor)) {
            thread::yield_now();
        }
        pool.wait_quiescent().unwrap();
        pool.stop();
        machines.join();
    }
}
