//! Hooks for the start and the end of each process.

use std::any::Any;
use std::time::Duration;

use filch_sync::panic::{catch_panic, drop_contained};

use crate::process::inline_box::process_box;
use crate::process::output::Successor;
use crate::table::body::Body;
use crate::{Context, ExitReason, InitError, Outcome, Pid, Process, ProcessError, Protocol};

/// Hooks into the life of each process, to keep a register, to count processes, or to decide which
/// may run.
///
/// Both hooks run in the middle of the scheduler's work: one that blocks keeps that thread. The
/// hooks are dropped with the last [handle](crate::Handle): hooks that keep one are never dropped.
/// The example `log_server` of `filch-actors` counts failures by hooks.
///
/// | | in `on_start` | in `on_complete` | when `join` has returned |
/// |---|---|---|---|
/// | a message to it | waits for its first step | comes back, [`NoSuchProcess`](crate::Undelivered::NoSuchProcess) | comes back |
/// | its name | leads to it | to nobody | to nobody |
/// | [`info`](crate::Handle::info) | knows it | perhaps | does not |
/// | [monitors](crate::Handle::monitor), [links](crate::Handle::link) | are accepted | have been told | say that there is no such process |
/// | the [statistics](crate::Handle::stats) | do not count it as ended | do | do, and all its steps: exact |
/// | [live](crate::Handle::live) | counts it | does not | does not |
///
/// Besides: a step that says [`done`](crate::StepOutput::done) while the process is
/// [terminated](crate::Handle::terminate) ends it by `done`. A handle answers all of these after
/// the shutdown, too.
pub trait LifeCycle<P: Protocol>: Send + Sync + 'static {
    /// Called before `process` starts: its [`init`](Process::init) has succeeded, its first step
    /// has not begun. Runs on the thread that submits. `method` is its entry point, empty for a
    /// [future](Context::is_future); its names are in [`Context::info`].
    ///
    /// # Errors
    /// The process is closed instead, and [`submit`](crate::Handle::submit) returns
    /// this error in [`InitError::Refused`].
    fn on_start(
        &self,
        _context: &Context<'_, P>,
        _process: &dyn Process<P>,
        _method: &str,
    ) -> Result<(), P::Error> {
        Ok(())
    }

    /// Called when a process is over: exactly once for each that was started, on the worker that
    /// ended it, after it was dropped, and before its join returns `exit`. A panic in here is
    /// contained.
    fn on_complete(&self, _context: &Context<'_, P>, _reason: &ExitReason, _exit: ExitRef<'_, P>) {}
}

/// The exit of a process, as the [hooks](LifeCycle) see it: its output, or its error.
pub type ExitRef<'a, P> = Result<&'a Outcome<P>, &'a ProcessError<P>>;

/// Asks the hooks, if there are any.
pub(crate) fn start<P: Protocol>(
    context: &Context<'_, P>,
    process: &dyn Process<P>,
    method: &str,
) -> Result<(), InitError<P>> {
    let Some(hooks) = &context.handle().shared().hooks else {
        return Ok(());
    };
    let started = catch_panic(|| hooks.on_start(context, process, method));
    started
        .map_err(InitError::HookPanicked)?
        .map_err(InitError::Refused)
}

/// Returns the process's name for reports, by the user's code, which may panic. For rare cases.
#[inline(never)]
pub(crate) fn type_name<P: Protocol>(process: &dyn Process<P>) -> &'static str {
    catch_panic(|| process.type_name()).unwrap_or("(its `type_name` panics)")
}

/// Adds the process to the message of a panic, of which the panic hook names the thread alone: its
/// PID and names, the code that panicked, and its entry point, if it is given or in a journal.
#[cold]
#[inline(never)]
pub(crate) fn panicked<P: Protocol>(
    context: &Context<'_, P>,
    code: &str,
    method: Option<&str>,
    message: &mut String,
) {
    let info = context.info();
    let names: String = (info.names.iter().map(|name| format!(" `{name}`"))).collect();
    let noted = info.details.as_ref().map(|details| &*details.method);
    let method = method.or(noted).filter(|method| !method.is_empty());
    let method = method.map_or(String::new(), |method| format!(", begun at `{method}`"));
    message.push_str(&format!(
        " (in process {}{names}: {code}{method})",
        info.pid
    ));
}

/// Adds the process to the error of its start, if that is a panic.
#[cold]
#[inline(never)]
pub(crate) fn not_started<P: Protocol>(
    context: &Context<'_, P>,
    process: &dyn Process<P>,
    method: &str,
    mut error: InitError<P>,
) -> InitError<P> {
    if let InitError::Panicked(message) | InitError::HookPanicked(message) = &mut error {
        panicked(context, type_name(process), Some(method), message);
    }
    error
}

/// Runs `init`.
pub(crate) fn init<P: Protocol>(
    process: &mut dyn Process<P>,
    context: &Context<'_, P>,
    method: &str,
    input: P::Input,
) -> Result<(), InitError<P>> {
    let mut outcome = Ok(());
    match catch_panic(|| outcome = process.init(context, method, input)) {
        Ok(()) => outcome,
        Err(message) => Err(InitError::Panicked(message)),
    }
}

/// Starts the new version of a process in place of the one that the caller has. A function of its
/// own, as few steps end so.
///
/// # Errors
/// The error that the process ends with.
#[cold]
#[inline(never)]
pub(crate) fn take_over<P: Protocol>(
    successor: Successor<P>,
    context: &Context<'_, P>,
    body: &mut Body<P>,
) -> Result<(), ProcessError<P>> {
    let Successor {
        mut process,
        method,
        input,
    } = successor;
    if let Err(error) = init(process.as_mut(), context, &method, input) {
        let error = not_started(context, &*process, &method, error);
        let reason = ExitReason::not_started(&error);
        let _ = catch_panic(|| process.close(&reason));
        drop_contained(process);
        return Err(ProcessError::Upgrade(error));
    }
    let closed = catch_panic(|| body.process.close(&ExitReason::Upgraded));
    context.slot().stats.set_future(false);
    context.slot().replace_future();
    if let Some(observer) = &context.handle().shared().observer {
        observer.replace(context.pid(), type_name(&*process), &method);
    }
    // The old one is dropped where it is: it may be a future, which must not move. If its
    // destructor panics, the new one is in its place all the same.
    let dropped = catch_panic(|| body.process = process_box(process));
    closed.and(dropped).map_err(|mut message| {
        panicked(context, "its version before", None, &mut message);
        ProcessError::Panicked(message)
    })
}

/// Observes processes and their commands, for reports: a journal. It does not see messages or
/// steps. Each call is on a thread that does the scheduler's work.
pub trait Observer: Any + Send + Sync {
    /// A process begins, at the entry point `method`, which is empty for a future; it was submitted
    /// in a step of `parent`, if there is one.
    fn begin(&self, pid: Pid, type_name: &'static str, method: &str, parent: Option<Pid>);

    /// The process goes on as another type, from that entry point.
    fn replace(&self, pid: Pid, type_name: &'static str, method: &str);

    /// The process has ended, or was not started.
    fn end(&self, pid: Pid, reason: &ExitReason);

    /// A command of the process begins. Returns a number for it.
    fn begin_command(&self, pid: Pid, tag: u64) -> u64;

    /// The command calls the process `to`.
    fn note_call(&self, pid: Pid, number: u64, to: Pid, is_limited: bool);

    /// The command is completed. Its process may have ended before.
    fn end_command(&self, pid: Pid, number: u64);

    /// Returns the notes of the process, for reports.
    fn details(&self, pid: Pid) -> Option<ProcessDetails>;
}

/// The notes of a journal on a process, in its [`ProcessInfo`](crate::ProcessInfo).
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessDetails {
    /// The name of its type, or of its future's.
    pub type_name: &'static str,
    /// Its entry point; empty for a future.
    pub method: Box<str>,
    /// The time since it was submitted.
    pub age: Duration,
    /// The process in whose step it was submitted, if any. That process may have ended.
    pub parent: Option<Pid>,
    /// Its open commands and calls, the oldest first.
    pub commands: Vec<PendingCommand>,
}

/// An open command.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCommand {
    /// The tag that its process gave it.
    pub tag: u64,
    /// The time since it began.
    pub age: Duration,
    /// The process that it calls, if it is a call.
    pub calls: Option<Pid>,
    /// Set for a call with a time limit.
    pub is_limited: bool,
}
