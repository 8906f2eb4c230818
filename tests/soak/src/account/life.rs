//! One submission: its possible ends, its deeds, and its real end.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, ThreadId};

use filch_scheduler::{CommandError, ExitReason, Pid, ProcessError};

use crate::account::{Count, Flag, Happening, complain, lock, note};
use crate::cast::{Parcel, Soak};
use crate::plan::Role;

/// The end that a process has decided on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Intent {
    #[default]
    GoesOn,
    Done,
    Fails,
    Panics,
    WaitsForNothing,
    /// Its next version does not start.
    UpgradesBadly,
}

/// The expected answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Reply,
    Failure,
    Panic,
    Abandoned,
    NoHandler,
    /// Any: the holder of the completion decides.
    Anything,
}

/// The accounts of one submission.
#[derive(Debug, Default)]
pub(crate) struct Life {
    pub(crate) number: u32,
    pub(crate) role: Role,
    pid: OnceLock<Pid>,
    /// Up if the submission was accepted.
    pub(crate) started: Flag,
    /// Up once its end is decided: messages may be dropped from here on.
    pub(crate) ending: Flag,
    /// Up while the current step leaves events behind.
    pub(crate) leaving: Flag,
    /// Up if somebody was told that it is gone.
    said_gone: Flag,
    /// Up if a step has left events behind, which it then may not know of.
    pub(crate) has_left: Flag,
    running: Flag,
    /// Up if somebody has asked for its termination.
    pub(crate) terminated: Flag,
    /// Up if somebody has linked it.
    pub(crate) linked: Flag,
    /// Up if somebody has given it a new version, or it has itself.
    pub(crate) upgraded: Flag,
    /// Up if one of its versions panics when it is closed or dropped.
    pub(crate) closing_panics: Flag,
    /// Up if somebody has given it a new version that does not start.
    pub(crate) upgraded_badly: Flag,
    /// Letters that are on their way to it.
    pub(crate) underway: Count,
    /// Calls of the end hook.
    pub(crate) completed: Count,
    exits: Count,
    pub(crate) exits_due: Count,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    intent: Intent,
    /// True if the current step may panic by what it leaves behind.
    may_panic: bool,
    reason: Option<ExitReason>,
    /// The last number of each sender's letters.
    heard: HashMap<u32, u64>,
    asked: HashMap<u64, Expected>,
    next_tag: u64,
    /// The thread of a bound process.
    home: Option<ThreadId>,
}

impl Life {
    pub(crate) fn new(number: u32, role: Role) -> Self {
        Self {
            number,
            role,
            ..Self::default()
        }
    }

    /// Returns its PID, from its `init` on.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.pid.get().copied()
    }

    pub(crate) fn born(&self, pid: Pid) {
        if self.pid.set(pid).is_err() {
            complain(format!("{self} began twice"));
        }
    }

    /// Returns true if it was accepted and has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.started.is_up() && self.completed.get() == 0
    }

    /// Notes that somebody was told that it is gone: it must end by itself, if it has not.
    pub(crate) fn is_said_to_be_gone(&self) {
        self.said_gone.raise();
    }

    /// Begins a step.
    pub(crate) fn enter(&self, is_bound: bool) {
        note(Happening::Stepped);
        if self.running.raise() {
            complain(format!("{self} is stepped by two workers at a time"));
        }
        if self.ending.is_up() {
            complain(format!("{self} is stepped after its end"));
        }
        self.leaving.lower();
        let mut inner = lock(&self.inner);
        inner.intent = Intent::GoesOn;
        inner.may_panic = false;
        if is_bound {
            let here = thread::current().id();
            let home = *inner.home.get_or_insert(here);
            if home != here {
                complain(format!(
                    "{self} is bound to {home:?}, and stepped on {here:?}"
                ));
            }
        }
    }

    /// Notes that the current step leaves events behind, which may be bombs.
    pub(crate) fn leaves_events(&self) {
        self.leaving.raise();
        self.has_left.raise();
        lock(&self.inner).may_panic = true;
    }

    /// Ends a step.
    pub(crate) fn leave(&self) {
        self.running.lower();
    }

    pub(crate) fn intends(&self, intent: Intent) {
        self.ending.raise();
        lock(&self.inner).intent = intent;
    }

    /// Notes a letter of that sender.
    pub(crate) fn heard(&self, sender: u32, number: u64) {
        let last = lock(&self.inner).heard.insert(sender, number).unwrap_or(0);
        if number <= last {
            complain(format!(
                "{self} got message {number} of sender {sender} after message {last}"
            ));
        }
    }

    /// Notes a command that it yields; returns its tag.
    pub(crate) fn asks(&self, expected: Expected) -> u64 {
        let mut inner = lock(&self.inner);
        inner.next_tag += 1;
        let tag = inner.next_tag;
        inner.asked.insert(tag, expected);
        tag
    }

    /// Returns the number of open commands.
    pub(crate) fn outstanding(&self) -> usize {
        lock(&self.inner).asked.len()
    }

    /// Checks a completion that has come.
    pub(crate) fn answered(&self, tag: u64, result: &Result<Parcel, CommandError<Soak>>) {
        let Some(expected) = lock(&self.inner).asked.remove(&tag) else {
            return complain(format!(
                "{self} got an answer to command {tag}, which is not open"
            ));
        };
        let (got, happening) = match result {
            Ok(_) => (Expected::Reply, Happening::Answered),
            Err(CommandError::Failed(_)) => (Expected::Failure, Happening::AnsweredError),
            Err(CommandError::Panicked(_)) => (Expected::Panic, Happening::AnsweredPanic),
            Err(CommandError::Abandoned) => (Expected::Abandoned, Happening::AnsweredAbandoned),
            _ => (Expected::NoHandler, Happening::AnsweredError),
        };
        note(happening);
        if expected != Expected::Anything && got != expected {
            complain(format!(
                "{self}: command {tag} was to end by {expected:?}, not by {got:?}"
            ));
        }
        if let Ok(reply) = result
            && reply.number != tag
        {
            let number = reply.number;
            complain(format!("{self}: command {tag} got the answer to {number}"));
        }
    }

    /// Notes a call of the end hook.
    pub(crate) fn completes(&self, reason: &ExitReason) {
        if self.completed.add(1) != 0 {
            complain(format!("the end hook was told of {self} twice"));
        }
        if !self.ending.is_up() {
            complain(format!("{self} completed without `close`: {reason}"));
        }
        lock(&self.inner).reason = Some(reason.clone());
    }

    /// Returns the reason of its end, once it has one.
    pub(crate) fn reason(&self) -> Option<ExitReason> {
        lock(&self.inner).reason.clone()
    }

    /// Checks its exit, as somebody was told of it.
    pub(crate) fn exits(&self, exit: &Result<Parcel, ProcessError<Soak>>, shutting: bool) {
        self.exits.add(1);
        let (intent, may_panic) = {
            let inner = lock(&self.inner);
            (inner.intent, inner.may_panic)
        };
        let is_open = intent == Intent::GoesOn;
        let closing_panics = self.closing_panics.is_up();
        // If there are several versions, only the closing of the last one counts.
        let closes_well = !closing_panics || self.upgraded.is_up();
        let (is_right, happening) = match exit {
            Ok(output) => {
                let is_own = output.number == u64::from(self.number);
                let as_said = intent == Intent::Done && closes_well && is_own;
                (as_said, Happening::EndedDone)
            }
            Err(ProcessError::Failed(_)) => (intent == Intent::Fails, Happening::EndedFailed),
            Err(ProcessError::Panicked(_)) => {
                let by_step = intent == Intent::Panics || may_panic;
                // An old version counts too: an upgrade closes it.
                let by_closing =
                    closing_panics && (intent == Intent::Done || self.upgraded.is_up());
                (by_step || by_closing, Happening::EndedPanicked)
            }
            Err(ProcessError::WaitsForNothing) => (
                intent == Intent::WaitsForNothing,
                Happening::EndedWaitsForNothing,
            ),
            Err(ProcessError::Upgrade(_)) => {
                let by_itself = intent == Intent::UpgradesBadly;
                (
                    by_itself || is_open && self.upgraded_badly.is_up(),
                    Happening::EndedUpgrade,
                )
            }
            Err(ProcessError::Terminated) => (
                is_open && self.terminated.is_up(),
                Happening::EndedTerminated,
            ),
            Err(ProcessError::Linked { .. }) => (
                is_open && self.linked.is_up() && !self.role.traps_exits,
                Happening::EndedLinked,
            ),
            Err(ProcessError::ShutDown) => (is_open && shutting, Happening::EndedShutDown),
            Err(_) => (false, Happening::EndedFailed),
        };
        note(happening);
        if !is_right {
            let exit = exit.as_ref().map(|_| "done").map_err(ToString::to_string);
            complain(format!("{self} said {intent:?} and ended with {exit:?}"));
        }
    }

    /// Returns true if somebody has yet to be told of its exit.
    pub(crate) fn owes_exit(&self) -> bool {
        self.exits.get() < self.exits_due.get()
    }

    /// Checks, when all is over, that nothing is missing.
    pub(crate) fn check_over(&self) {
        let (completed, started) = (self.completed.get(), self.started.is_up());
        if completed != i64::from(started) {
            complain(format!(
                "{self}: started {started}, ends told to the hook {completed}"
            ));
        }
        let (exits, due) = (self.exits.get(), self.exits_due.get());
        if exits != due {
            complain(format!("{self}: {due} exits to be told, {exits} told"));
        }
    }

    /// Returns the reason that it has not come to rest, if there is one.
    pub(crate) fn unrest(&self) -> Option<String> {
        let underway = self.underway.get();
        if underway != 0 {
            let inner = lock(&self.inner);
            let (said, asked) = (inner.intent, &inner.asked);
            return Some(format!(
                "{underway} messages to {self} are underway; it said {said:?} and waits for \
                 {asked:?}"
            ));
        }
        if !self.is_alive() {
            return None;
        }
        let said = lock(&self.inner).intent;
        if self.ending.is_up() {
            return Some(format!("{self} said {said:?} and has not ended"));
        }
        if self.terminated.is_up() {
            return Some(format!("{self} was terminated and has not ended"));
        }
        if self.said_gone.is_up() {
            return Some(format!("{self} was said to be gone, and lives"));
        }
        let open = &lock(&self.inner).asked;
        (!open.is_empty()).then(|| format!("{self} has no answer to its commands {open:?}"))
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process #{}", self.number)?;
        match self.pid.get() {
            Some(pid) => write!(f, " ({pid})"),
            None => Ok(()),
        }
    }
}
