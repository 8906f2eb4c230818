//! The state of a table's processes: what each is doing or waits for.

use std::fmt;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use filch_event_queue::Depth;
use filch_process_state::State;

use crate::table::slot::Slot;
use crate::{Context, Handle, PendingCommand, Pid, ProcessDetails, Protocol};

/// The state of one process.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// The process.
    pub pid: Pid,
    /// Its names, in no order. An [extension](crate::Extension) that keeps names adds them.
    pub names: Vec<Arc<str>>,
    /// Its activity: running, ready, or waiting.
    pub activity: Activity,
    /// Commands that it yielded and whose completions it was not given.
    pub outstanding: u32,
    /// Messages sent to it and not given to a step; `None` without a limit, as they are not counted
    /// then.
    pub undelivered: Option<u32>,
    /// Messages and other events in its queue: exact up to some fifty, beyond that a lower bound.
    /// Events that its worker has drained and not yet given to a step are not counted.
    #[cfg_attr(feature = "serde", serde(with = "SerializedDepth"))]
    pub queued: Depth,
    /// Steps that it has taken.
    pub steps: u64,
    /// Messages, and other events except completions, that its steps were given.
    pub messages: u64,
    /// Steps that were given no event while commands of the process were under way: it goes on
    /// where it could wait. `u32::MAX` means as many or more.
    pub empty_steps: u32,
    /// The journal's notes of the process, if there is a journal.
    pub details: Option<Box<ProcessDetails>>,
}

impl ProcessInfo {
    /// Looks at the process `pid` in that slot, which the caller has or has pinned. Each field was
    /// true at some moment during the call.
    pub(crate) fn of<P: Protocol>(pid: Pid, slot: &Slot<P>) -> Self {
        let activity = match (slot.state.state(), slot.events.is_closed()) {
            (State::Complete, false) => Activity::Starting,
            (_, true) => Activity::Ending,
            (State::Ready, _) => Activity::Ready,
            (State::Blocked, _) => Activity::Blocked,
            (State::Idle, _) if slot.stats.awaits_waker() => Activity::Pending,
            (State::Idle, _) => Activity::Idle,
            (_, false) => Activity::Running,
        };
        Self {
            pid,
            names: Vec::new(),
            activity,
            outstanding: slot.stats.commands(),
            undelivered: None,
            queued: slot.events.depth(),
            steps: slot.stats.steps.get(),
            messages: slot.stats.messages.get(),
            empty_steps: slot.stats.empty_steps(),
            details: None,
        }
    }

    /// Checks if it goes on by itself.
    pub fn can_run(&self) -> bool {
        use Activity::{Ending, Ready, Running};
        matches!(self.activity, Ready | Running | Ending)
    }
}

/// The serialized form of a [`Depth`].
#[cfg(feature = "serde")]
#[derive(serde::Serialize)]
#[serde(remote = "Depth")]
struct SerializedDepth {
    events: usize,
    is_exact: bool,
}

/// The activity of a process.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Its `init` is running.
    Starting,
    /// It waits for a worker.
    Ready,
    /// It is in a step.
    Running,
    /// It waits for commands.
    Blocked,
    /// It waits for any event.
    Idle,
    /// It is a pending future: it waits for its waker, wherever that is.
    Pending,
    /// Its last step is over, and it is being closed.
    Ending,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// A pending future, and all that can wake it.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingFuture {
    /// Its process.
    pub pid: Pid,
    /// The processes whose handles it awaits. The end of each will wake it.
    pub awaits: Vec<Pid>,
    /// Clones of its waker that are kept elsewhere: by threads, timers, channels, or futures other
    /// than join handles. Each may wake it; their holders are unknown.
    pub wakers: usize,
}

/// The pending timers.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingTimers {
    /// The number of timers.
    pub count: usize,
    /// The time until the first of them is due, by its own clock; zero if it is due, or firing.
    pub next: Duration,
}

impl<P: Protocol> Handle<P> {
    /// Returns the PIDs of the live processes. Those that come and go meanwhile may be missing.
    pub fn processes(&self) -> Vec<Pid> {
        self.pin_all().map(|process| process.pid()).collect()
    }

    /// Returns the state of each live process; those that come and go meanwhile may be missing.
    #[doc(alias = "processes")]
    pub fn list(&self) -> Vec<ProcessInfo> {
        let processes = self.pin_all();
        let mut list: Vec<_> = processes.map(|one| self.look_at(one.slot())).collect();
        self.add_names(&mut list);
        list
    }

    /// Returns the state of the process `pid`, if it lives. Looks at all names of processes.
    #[doc(alias = "process_info")]
    pub fn info(&self, pid: Pid) -> Option<ProcessInfo> {
        let process = self.pin(pid)?;
        (process.is_live()).then(|| self.look_at_one(process.slot()))
    }

    /// Returns the state of a process in its slot, which the caller has pinned, with all that is
    /// noted elsewhere.
    fn look_at_one(&self, slot: &Slot<P>) -> ProcessInfo {
        let mut info = self.look_at(slot);
        self.add_names(slice::from_mut(&mut info));
        info
    }

    /// Returns the same without the names.
    fn look_at(&self, slot: &Slot<P>) -> ProcessInfo {
        let pid = self.table().pid_of(slot);
        let undelivered = self.policy(slot).map(|policy| policy.undelivered());
        let observer = self.shared().observer.as_ref();
        ProcessInfo {
            undelivered: undelivered.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
            details: observer.and_then(|observer| Some(Box::new(observer.details(pid)?))),
            ..ProcessInfo::of(pid, slot)
        }
    }

    /// Adds the names to a list that is in the order of the slots, as PIDs are.
    fn add_names(&self, list: &mut [ProcessInfo]) {
        for extension in self.shared().extensions.iter() {
            let lives = |pid| self.takes_messages(pid);
            extension.each_name(&lives, &mut |pid, name| {
                if let Ok(place) = list.binary_search_by_key(&pid, |info| info.pid) {
                    list[place].names.push(Arc::clone(name));
                }
            });
        }
        list.iter_mut().for_each(|info| info.names.sort_unstable());
    }
}

impl<P: Protocol> Context<'_, P> {
    /// Returns the process's own state: the work it has done, and the events that wait for it.
    pub fn info(&self) -> ProcessInfo {
        self.handle().look_at_one(self.slot())
    }
}

/// A table for people: a line of column names, and a line for each of these processes, followed, if
/// there is a journal, by a line for each of its open commands.
#[derive(Debug, Clone, Copy)]
pub struct ProcessList<'a>(pub &'a [ProcessInfo]);

impl fmt::Display for ProcessList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            "process", "is", "commands", "mailbox", "steps", "messages"
        )?;
        self.0.iter().try_for_each(|process| process.write(f))
    }
}

impl ProcessInfo {
    /// Writes its line, after a line break.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mailbox = match self.undelivered {
            Some(count) => count.to_string(),
            None => self.queued.to_string(),
        };
        write!(
            f,
            "\n{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            self.pid.to_string(),
            self.activity,
            self.outstanding,
            mailbox,
            self.steps,
            self.messages,
        )?;
        if !self.names.is_empty() {
            write!(f, "  {}", self.names.join(", "))?;
        }
        self.details.iter().try_for_each(|details| details.write(f))
    }
}

impl ProcessDetails {
    /// Writes the rest of the line, and one for each command, up to [`MOST`].
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, age) = (self.type_name, self.age.as_secs_f64());
        write!(f, "  {name}, {age:.1} s old")?;
        if let Some(parent) = self.parent {
            write!(f, ", of {parent}")?;
        }
        for command in self.commands.iter().take(MOST) {
            write!(f, "\n{command}")?;
        }
        match self.commands.len().checked_sub(MOST) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n    and {more} commands more"),
        }
    }
}

/// The most commands of a process that are shown.
const MOST: usize = 16;

impl fmt::Display for PendingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.calls {
            Some(callee) => write!(f, "    call {} of {callee}", self.tag)?,
            None => write!(f, "    command {}", self.tag)?,
        }
        if self.is_limited {
            f.write_str(", which has a time limit")?;
        }
        write!(f, ", for {:.1} s", self.age.as_secs_f64())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
