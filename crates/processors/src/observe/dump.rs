//! Text on the state of every processor and thread, for a person with a hung system.

use std::fmt::{self, Write};

use filch_sync::lock;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{Activity, EXTERNAL_TASK, task_label};

/// The text of a snapshot of a pool; made by [`Processors::dump`].
///
/// Taken piece by piece while everything goes on: two lines may contradict each other if something
/// happened between them. In a pool that hangs nothing does.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone)]
pub struct Dump(String);

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The largest number of names in one line, of tasks that wait for a thread.
const MAX_NAMES: usize = 8;

impl<T: Send + 'static> Processors<T> {
    /// Returns what every processor and thread is doing now. Takes some locks for a moment, and
    /// disturbs nothing else. Tasks in queues are counted, not shown; those that run, block, or
    /// wait for their thread are named as [`Runner::label`](crate::Runner::label) says. **Take two
    /// dumps**, some seconds apart: the second one says which threads have been in the same task,
    /// or the same blocking call, ever since the first.
    ///
    /// ```
    /// # use filch_processors::{Config, Processors};
    /// let pool = Processors::<u8>::new(Config::default().processors(2))?;
    /// pool.inject(7);
    /// println!("{}", pool.dump());
    /// # assert!(pool.dump().to_string().contains("global queue: 1"));
    /// # Ok::<(), filch_processors::PoolError>(())
    /// ```
    pub fn dump(&self) -> Dump {
        let mut text = String::new();
        // A string takes whatever is written.
        let _ = self.write_dump(&mut text);
        Dump(text)
    }

    fn write_dump(&self, text: &mut String) -> fmt::Result {
        let coordinator = &self.shared.coordinator;
        let queues = &self.shared.queues;
        let (idle, searching) = coordinator.idle.list();
        let control = coordinator.control_word();
        let (inactive, bindings) = {
            let synced = coordinator.synced();
            let inactive: Vec<bool> = synced.inactive.iter().map(Option::is_some).collect();
            (inactive, synced.bindings.clone())
        };
        let lengths = self.queue_lengths();
        let (guests, machines): (Vec<_>, Vec<_>) =
            (self.look_at_all().into_iter()).partition(|look| look.is_guest);
        let runner = lock(&self.runner).clone();
        let describe = |label| match &runner {
            Some(runner) => runner.describe(label),
            None => format!("task {label}"),
        };
        let name_of = |task: &T| Some(describe(runner.as_ref()?.label(task)?));
        let stopping = if control.is_stopping() {
            ", stopping"
        } else {
            ""
        };
        let source = match (queues.source.is_attached(), queues.source.is_empty()) {
            (false, _) => "",
            (true, true) => ", source: empty",
            (true, false) => ", source: not empty",
        };
        writeln!(
            text,
            "{} processors, {} idle, {searching} searching{stopping}; global queue: {} and {} \
             woken, given way: {}, idle priority: {}{source}",
            control.active(),
            idle.len(),
            lengths.new,
            lengths.woken,
            lengths.given_way,
            lengths.idle_priority,
        )?;
        for (number, stats) in self.stats().into_iter().enumerate() {
            let machine = self.name(coordinator.attached(number));
            write!(text, "  processor {number}: ")?;
            match (inactive[number], idle.contains(&number)) {
                (true, _) => write!(text, "inactive")?,
                (false, true) => write!(text, "idle, with {machine}")?,
                (false, false) => write!(text, "held by {machine}")?,
            }
            if let Some(guest) = guests.iter().find(|look| look.processor == Some(number)) {
                let task = task_label(guest.shown).map_or_else(|| "a task".to_owned(), describe);
                write!(text, ", where a guest runs {task}")?;
            }
            if let Some(watcher) = coordinator.watcher(number) {
                write!(text, ", watched by {}", self.name(watcher))?;
            }
            let tasks = lengths.local.get(number).copied().unwrap_or_default();
            writeln!(text, ", deque: {tasks}{stats}")?;
        }
        let threads = self.threads();
        writeln!(
            text,
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
        for look in machines {
            let binding = bindings.iter().find(|bound| bound.machine == look.machine);
            let (activity, processor) = match look.activity {
                Activity::Gone => continue,
                Activity::Runs => ("runs", look.processor),
                Activity::Parked if binding.is_some_and(|binding| binding.waits) => {
                    ("waits for a task that is bound to it", None)
                }
                Activity::Parked => ("parked", look.processor),
                Activity::Blocks => ("in a blocking call", None),
                Activity::Waits => ("back from a blocking call, waits for a processor", None),
            };
            write!(text, "  {}: {activity}", self.name(look.machine))?;
            if look.shown == EXTERNAL_TASK {
                write!(text, " (an external task of the source)")?;
            } else if let Some(label) = task_label(look.shown) {
                write!(text, " ({})", describe(label))?;
            }
            if let Some(processor) = processor {
                write!(text, ", processor {processor}")?;
            }
            if let Some(since) = look.since {
                let seconds = since.as_secs_f64();
                write!(text, ", the same for {seconds:.1} s at least")?;
            }
            if let Some(binding) = binding {
                let tasks = &self.shared.bound_tasks;
                let (waiting, names) = tasks.waiting(binding.id, MAX_NAMES, name_of);
                write!(text, ", bound; waiting for it: {waiting}")?;
                if !names.is_empty() {
                    write!(text, " ({})", names.join(", "))?;
                }
            }
            writeln!(text)?;
        }
        Ok(())
    }

    pub(crate) fn name(&self, machine: usize) -> String {
        format!("{}-{machine}", self.config.thread_name)
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
        pool.wait_quiescent(None).unwrap();
        pool.stop();
        machines.join();
    }
}
