//! What everybody is doing, as text, for the person with a hung system.

use std::fmt;

use crate::Processors;
use crate::crew::Doing;
use crate::stats::ProcessorStats;
use crate::throttle::ThreadStats;

/// What a pool looked like, made by [`Processors::dump`]: print it.
///
/// Taken piece by piece while everything goes on: two lines may contradict each other if something happened between them. In
/// a pool that hangs nothing does.
#[derive(Debug, Clone)]
pub struct Dump {
    stopping: bool,
    active: usize,
    searching: usize,
    /// Idle processors, the next to be woken first.
    idle: Vec<usize>,
    injector: usize,
    idle_priority: usize,
    processors: Vec<ProcessorLine>,
    machines: Vec<(String, &'static str, Option<usize>)>,
    threads: ThreadStats,
}

#[derive(Debug, Clone)]
struct ProcessorLine {
    number: usize,
    at_rest: bool,
    machine: String,
    has_tasks: bool,
    stats: ProcessorStats,
}

impl<T: Send + 'static> Processors<T> {
    /// What everybody is doing now. Takes a lock for a moment, and disturbs nobody else.
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
        let (idle, searching) = self.crew.idle.snapshot();
        let notice = self.crew.notice();
        let at_rest: Vec<bool> = self
            .crew
            .roster()
            .at_rest
            .iter()
            .map(Option::is_some)
            .collect();
        let name = |machine: usize| format!("{}-{machine}", self.config().thread_name);
        let processors: Vec<ProcessorLine> = self
            .stats()
            .into_iter()
            .enumerate()
            .map(|(number, stats)| ProcessorLine {
                number,
                at_rest: at_rest[number],
                machine: name(self.crew.attached(number)),
                has_tasks: !self.queues.processors[number].stealer.is_empty(),
                stats,
            })
            .collect();
        let holds = |machine| {
            (0..processors.len())
                .find(|&number| !at_rest[number] && self.crew.attached(number) == machine)
        };
        let machines = self
            .crew
            .members
            .iter()
            .map_while(std::sync::OnceLock::get)
            .enumerate()
            .filter_map(|(machine, member)| {
                let (doing, holds) = match member.doing() {
                    Doing::Gone => return None,
                    Doing::Runs => ("runs", holds(machine)),
                    Doing::Parked => ("parked", holds(machine)),
                    Doing::Blocks => ("in a blocking call", None),
                    Doing::Waits => ("back from a blocking call, waits for a processor", None),
                };
                Some((name(machine), doing, holds))
            })
            .collect();
        Dump {
            stopping: notice.stopping,
            active: notice.active.into(),
            searching,
            idle,
            injector: self.queues.injector.len(),
            idle_priority: self.queues.idle_priority.len(),
            processors,
            machines,
            threads: self.threads(),
        }
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} processors, {} idle, {} searching{}; global queue: {}, idle priority: {}",
            self.active,
            self.idle.len(),
            self.searching,
            if self.stopping { ", stopping" } else { "" },
            self.injector,
            self.idle_priority,
        )?;
        for processor in &self.processors {
            processor.write(f, self.idle.contains(&processor.number))?;
        }
        let threads = &self.threads;
        writeln!(
            f,
            "{} threads (at most {}, {} started so far, {} refused): {} spare, {} in blocking calls, {} of them back and \
             waiting",
            threads.threads,
            threads.limit,
            threads.started,
            threads.refused,
            threads.spares,
            threads.blocking,
            threads.waiting
        )?;
        for (name, doing, holds) in &self.machines {
            match holds {
                Some(processor) => writeln!(f, "  {name}: {doing}, processor {processor}")?,
                None => writeln!(f, "  {name}: {doing}")?,
            }
        }
        Ok(())
    }
}

impl ProcessorLine {
    fn write(&self, f: &mut fmt::Formatter<'_>, idle: bool) -> fmt::Result {
        let stats = &self.stats;
        write!(f, "  processor {}: ", self.number)?;
        if self.at_rest {
            f.write_str("at rest")?;
        } else if idle {
            write!(f, "idle, with {}", self.machine)?;
        } else {
            write!(f, "held by {}", self.machine)?;
        }
        writeln!(
            f,
            ", deque {}; run {}, panicked {}, stolen {} in {} steals, parks {}, wake-ups {}, blocking calls {}, kept in {}",
            if self.has_tasks { "has tasks" } else { "empty" },
            stats.run,
            stats.panicked,
            stats.stolen,
            stats.steals,
            stats.parks,
            stats.wake_ups,
            stats.blocking_calls,
            stats.blocked_in_place
        )
    }
}
