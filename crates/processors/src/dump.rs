//! What everybody is doing, as text, for the person with a hung system.

use std::fmt;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use filch_sync::atomic::Ordering;

use crate::Processors;
use crate::bond::BoundId;
use crate::crew::Doing;
use crate::stats::ProcessorStats;
use crate::throttle::ThreadStats;

/// What a pool looked like, made by [`Processors::dump`]: print it.
///
/// Taken piece by piece while everything goes on: two lines may contradict each other if something
/// happened between them. In a pool that hangs nothing does.
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
    machines: Vec<MachineLine>,
    threads: ThreadStats,
}

#[derive(Debug, Clone)]
struct ProcessorLine {
    number: usize,
    at_rest: bool,
    machine: String,
    /// Who keeps vigil over it.
    keeper: Option<String>,
    tasks: usize,
    stats: ProcessorStats,
}

#[derive(Debug, Clone)]
struct MachineLine {
    name: String,
    doing: &'static str,
    /// What the task is called that it runs, or is in a blocking call of.
    task: Option<String>,
    processor: Option<usize>,
    lent_to: Option<String>,
    /// For so long it has been in the same task, or the same call, at least.
    since: Option<Duration>,
    bound: Option<Bound>,
}

#[derive(Debug, Clone)]
struct Bound {
    waiting: usize,
    /// What the first of them are called.
    names: Vec<String>,
}

/// Who is bound to whom, by number.
struct Bonds(Vec<(usize, BoundId, bool, Option<usize>)>);

/// So many of the tasks that wait for one thread are named.
const NAMES: usize = 8;

impl<T: Send + 'static> Processors<T> {
    /// What everybody is doing now. Takes some locks for a moment, and disturbs nobody else.
    ///
    /// What is in queues is counted, not shown: only who takes a task out can look at it. Tasks
    /// that run, block, or wait for their thread are named as
    /// [`Runner::label`](crate::Runner::label) says. **Take two dumps**, some seconds apart: the
    /// second one says who has been in the same task, or the same blocking call, ever since the
    /// first.
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
        let (at_rest, bonds) = {
            let roster = self.crew.roster();
            let at_rest: Vec<bool> = roster.at_rest.iter().map(Option::is_some).collect();
            let bonds = roster.bonds.iter();
            let bonds = bonds.map(|bond| (bond.machine, bond.id, bond.waits, bond.lender));
            (at_rest, Bonds(bonds.collect()))
        };
        let processors: Vec<ProcessorLine> = self
            .stats()
            .into_iter()
            .enumerate()
            .map(|(number, stats)| ProcessorLine {
                number,
                at_rest: at_rest[number],
                machine: self.name(self.crew.attached(number)),
                keeper: self.crew.keeper(number).map(|machine| self.name(machine)),
                tasks: self.queues.processors[number].stealer.len(),
                stats,
            })
            .collect();
        let machines = self.machine_lines(&processors, &bonds);
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

    fn name(&self, machine: usize) -> String {
        format!("{}-{machine}", self.config().thread_name)
    }

    fn machine_lines(&self, processors: &[ProcessorLine], bonds: &Bonds) -> Vec<MachineLine> {
        let now = Instant::now();
        let mut watch = crate::lock(&self.watch);
        let since: Vec<Option<Duration>> = processors
            .iter()
            .map(|line| watch.processors.look(line.number, line.stats.run, now))
            .collect();
        let starter = crate::lock(&self.starter);
        let describe = |label| match &*starter {
            Some(starter) => starter.describe(label),
            None => format!("task {label}"),
        };
        let name_of = |task: &T| Some(describe(starter.as_ref()?.label(task)?));
        let members = self.crew.members.iter();
        members
            .map_while(std::sync::OnceLock::get)
            .enumerate()
            .filter_map(|(machine, member)| {
                let (doing, changes) = member.doing();
                let unmoved = watch.machines.look(machine, changes, now);
                // ORDERING: Relaxed: for people.
                let label = NonZeroU64::new(member.label.load(Ordering::Relaxed));
                let attached = processors
                    .iter()
                    .position(|line| !line.at_rest && self.crew.attached(line.number) == machine);
                let bond = bonds.of(machine);
                let lent_to = bonds.borrower(machine);
                let (doing, processor, since) = match doing {
                    Doing::Gone => return None,
                    Doing::Runs => {
                        let since = attached.and_then(|processor| since[processor]).min(unmoved);
                        ("runs", attached, since)
                    }
                    Doing::Parked if bond.is_some_and(|(_, waits)| waits) => {
                        ("waits for a task that is bound to it", None, None)
                    }
                    Doing::Parked if lent_to.is_some() => ("has lent its processor", None, None),
                    Doing::Parked => ("parked", attached, None),
                    Doing::Blocks => ("in a blocking call", None, unmoved),
                    Doing::Waits => (
                        "back from a blocking call, waits for a processor",
                        None,
                        unmoved,
                    ),
                };
                Some(MachineLine {
                    name: self.name(machine),
                    doing,
                    task: label.map(describe),
                    processor,
                    lent_to: lent_to.map(|borrower| self.name(borrower)),
                    since,
                    bound: bond.map(|(id, _)| {
                        let (waiting, names) = self.bound.waiting(id, NAMES, name_of);
                        Bound { waiting, names }
                    }),
                })
            })
            .collect()
    }
}

impl Bonds {
    /// What the machine is bound as, and whether it waits for a task.
    fn of(&self, machine: usize) -> Option<(BoundId, bool)> {
        let bond = self.0.iter().find(|bond| bond.0 == machine)?;
        Some((bond.1, bond.2))
    }

    /// Who has the machine's processor.
    fn borrower(&self, machine: usize) -> Option<usize> {
        let bond = self.0.iter().find(|bond| bond.3 == Some(machine))?;
        Some(bond.0)
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
            "{} threads (at most {} and those bound, {} started so far, {} refused): {} spare, {} bound, {} in blocking calls, {} of them back \
             and waiting",
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
        if self.at_rest {
            f.write_str("at rest")?;
        } else if idle {
            write!(f, "idle, with {}", self.machine)?;
        } else {
            write!(f, "held by {}", self.machine)?;
        }
        if let Some(keeper) = &self.keeper {
            write!(f, ", over which {keeper} keeps vigil")?;
        }
        writeln!(
            f,
            ", deque: {}; run {}, panicked {}, stolen {} in {} steals, parks {}, wake-ups {}, lent {}, blocking calls {}, \
             kept in {}",
            self.tasks,
            stats.run,
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
        write!(f, "  {}: {}", self.name, self.doing)?;
        if let Some(task) = &self.task {
            write!(f, " ({task})")?;
        }
        if let Some(borrower) = &self.lent_to {
            write!(f, " to {borrower}")?;
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
