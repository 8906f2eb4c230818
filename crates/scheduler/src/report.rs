//! What the processes are doing, and whether any of them ever will again.

use std::fmt;

use filch_process_state::State;
use filch_processors::NeverQuiescent;

use crate::body::Slot;
use crate::{CalledFromInside, Handle, Pid, Protocol};

/// What one process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Who.
    pub pid: Pid,
    /// What it is doing, or waits for.
    pub activity: Activity,
    /// Commands that it yielded and whose completions it has not been given.
    pub outstanding: u32,
    /// Messages sent to it that no step has been given; `None` without a limit, since they are not
    /// counted then.
    pub undelivered: Option<u32>,
    /// Steps that it has taken.
    pub steps: u64,
    /// Messages, and other events but completions, that its steps were given.
    pub messages: u64,
}

impl ProcessInfo {
    /// Whether it goes on by itself.
    fn can_run(&self) -> bool {
        use Activity::{Ending, Ready, Running};
        matches!(self.activity, Ready | Running | Ending)
    }
}

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Its `init` is running.
    Starting,
    /// It waits for its turn.
    Ready,
    /// It is in a step.
    Running,
    /// It waits for commands.
    Blocked,
    /// It waits for whatever comes.
    Idle,
    /// It is a [future](Handle::spawn) that is pending: it waits for its waker, wherever that is.
    Pending,
    /// Its last step is over, and it is being closed.
    Ending,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Blocked => "blocked",
            Self::Idle => "idle",
            Self::Pending => "pending",
            Self::Ending => "ending",
        })
    }
}

impl ProcessInfo {
    /// Of the process `pid` in that slot, on which the caller holds a pin.
    fn of<P: Protocol>(pid: Pid, slot: &Slot<P>) -> Self {
        let activity = match (slot.state.state(), slot.events.is_closed()) {
            (State::Complete, false) => Activity::Starting,
            (_, true) => Activity::Ending,
            (State::Ready, _) => Activity::Ready,
            (State::Blocked, _) => Activity::Blocked,
            (State::Idle, _) if slot.awaited.is_future() => Activity::Pending,
            (State::Idle, _) => Activity::Idle,
            (_, false) => Activity::Running,
        };
        Self {
            pid,
            activity,
            outstanding: slot.awaited.commands(),
            undelivered: slot.mailbox.undelivered(),
            steps: slot.stats.steps(),
            messages: slot.stats.messages(),
        }
    }
}

/// What the processes wait for when nothing can run any more. Its `Display` is for the person who
/// is called at night.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standstill {
    /// The processes that live.
    pub processes: Vec<ProcessInfo>,
}

/// Whether anything will ever happen again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No process lives.
    AllEnded,
    /// Somebody outside holds the [`Completion`](crate::Completion) of a command, or is in the
    /// middle of submitting a process, or may hold the waker of a future: it goes on when they do.
    AwaitsOutside,
    /// No command is under way, and no future is pending: the processes wait for messages, which
    /// none of them can send. If no thread outside does either, this is a deadlock.
    Deadlock,
}

impl Standstill {
    /// Whether anything will ever happen again.
    ///
    /// A completion that a process has put by, to complete it later, counts as held outside; so
    /// does the waker of every pending future, though it may be one that waits for another process
    /// here.
    pub fn verdict(&self) -> Verdict {
        let comes_from_outside = |process: &ProcessInfo| {
            process.outstanding > 0
                || matches!(process.activity, Activity::Starting | Activity::Pending)
        };
        if self.processes.is_empty() {
            Verdict::AllEnded
        } else if self.processes.iter().any(comes_from_outside) {
            Verdict::AwaitsOutside
        } else {
            Verdict::Deadlock
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.processes.len();
        let waiting = match count {
            1 => "1 process waits".to_owned(),
            _ => format!("{count} processes wait"),
        };
        match self.verdict() {
            Verdict::AllEnded => return f.write_str("all processes have ended"),
            Verdict::AwaitsOutside => {
                let commands: u64 = self
                    .processes
                    .iter()
                    .map(|process| u64::from(process.outstanding))
                    .sum();
                let pending = |process: &&ProcessInfo| process.activity == Activity::Pending;
                let futures = match self.processes.iter().filter(pending).count() {
                    0 => String::new(),
                    1 => ", 1 future may be woken from there".to_owned(),
                    count => format!(", {count} futures may be woken from there"),
                };
                writeln!(
                    f,
                    "{waiting}; {commands} commands are under way outside{futures}, and nothing runs before that comes:"
                )?;
            }
            Verdict::Deadlock => writeln!(
                f,
                "{waiting} for messages; no command is under way, so unless a thread outside sends some, they wait for ever:"
            )?,
        }
        write!(
            f,
            "{:<16}{:<10}{:>12}{:>12}{:>10}{:>10}",
            "process", "is", "commands", "undelivered", "steps", "messages"
        )?;
        for process in &self.processes {
            let undelivered = process
                .undelivered
                .map_or_else(|| "-".to_owned(), |count| count.to_string());
            write!(
                f,
                "\n{:<16}{:<10}{:>12}{:>12}{:>10}{:>10}",
                process.pid.to_string(),
                process.activity,
                process.outstanding,
                undelivered,
                process.steps,
                process.messages,
            )?;
        }
        Ok(())
    }
}

/// Why there was no standstill to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandstillError {
    /// Called on a worker of the same scheduler: it would run for as long as it waited.
    CalledFromInside,
    /// The workers have left, and what became runnable since will never run.
    ShutDown,
}

impl fmt::Display for StandstillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CalledFromInside => CalledFromInside.fmt(f),
            Self::ShutDown => NeverQuiescent.fmt(f),
        }
    }
}

impl std::error::Error for StandstillError {}

impl<P: Protocol> Handle<P> {
    /// What each process that lives is doing. Each line was true at some moment during the call;
    /// processes that come and go meanwhile may be in it or not.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let processes = self.table().iter();
        processes
            .map(|process| ProcessInfo::of(process.pid(), process.slot()))
            .collect()
    }

    /// What the process `pid` is doing, if it lives.
    pub fn info(&self, pid: Pid) -> Option<ProcessInfo> {
        let process = self.table().pin(pid)?;
        process
            .is_live()
            .then(|| ProcessInfo::of(pid, process.slot()))
    }

    /// Blocks until no process can run any more, unless somebody outside completes a command,
    /// sends, or submits; then says what each one waits for. Blocking, for as long as anything is
    /// runnable.
    ///
    /// The standstill is exact: at one moment during the call all workers were idle and nothing was
    /// runnable, and until the last process had been looked at no step was taken; and none of them
    /// is [`Ready`](Activity::Ready).
    ///
    /// # Errors
    /// [`StandstillError`].
    pub fn wait_for_standstill(&self) -> Result<Standstill, StandstillError> {
        if self.is_worker() {
            return Err(StandstillError::CalledFromInside);
        }
        let processors = &self.shared.processors;
        loop {
            // Before all is quiet: what begins after this is seen below, however long it takes.
            let before = self.moves();
            let Ok(()) = processors.wait_quiescent() else {
                return Err(StandstillError::ShutDown);
            };
            let processes = self.list();
            // Somebody may have woken one since, which then took a step while others were looked
            // at.
            if self.moves() == before && !processes.iter().any(ProcessInfo::can_run) {
                return Ok(Standstill { processes });
            }
            // A thread outside may have made one Ready and not put it into a queue yet, where it
            // could be seen: let it.
            filch_sync::thread::yield_now();
        }
    }

    /// Steps taken and processes ended: while all is quiet, it stays as it is.
    fn moves(&self) -> u64 {
        let counters = self.shared.counters.iter();
        counters
            .map(|counters| counters.snapshot())
            .map(|worker| worker.steps + worker.ended)
            .sum()
    }
}
