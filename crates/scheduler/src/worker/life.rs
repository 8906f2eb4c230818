//! The user's code at the ends of a life: `init`, a new version, `close`.

use filch_process_table::WatchList;
use filch_sync::panic::{catch_panic, drop_all_contained, drop_contained};

use crate::api::process_error::Exit;
use crate::api::step_output::Successor;
use crate::table::backlog::EventList;
use crate::table::body::{Body, ProcessBox};
use crate::{Context, ExitReason, InitError, Process, ProcessError, Protocol, StepOutput};

/// Runs `init`.
pub(crate) fn init<P: Protocol>(
    process: &mut dyn Process<P>,
    context: &Context<'_, P>,
    method: &str,
    input: P::Input,
) -> Result<(), InitError<P>> {
    match catch_panic(|| process.init(context, method, input)) {
        Ok(outcome) => outcome,
        Err(message) => Err(InitError::Panicked(message)),
    }
}

/// Starts the new version of a process in place of the one that the caller has.
///
/// # Errors
/// What the process ends with.
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
        let reason = ExitReason::not_started(&error);
        let _ = catch_panic(|| process.close(&reason));
        drop_contained(process);
        return Err(ProcessError::Upgrade(error));
    }
    let mut old = std::mem::replace(&mut body.process, ProcessBox::boxed(process));
    let closed = catch_panic(|| old.close(&ExitReason::Upgraded));
    let dropped = catch_panic(|| drop(old));
    closed.and(dropped).map_err(ProcessError::Panicked)
}

/// Closes and drops what the worker has of a process that ends with `exit`. All of that is user
/// code, and each part of it may panic: one by one, so that no panic keeps the rest. Why it ended
/// then, and what is to be told of that.
pub(crate) fn close<P: Protocol>(
    body: Body<P>,
    exit: &mut Exit<P>,
    events: &mut EventList<P>,
    output: &mut StepOutput<P>,
) -> (ExitReason, Option<WatchList>) {
    let Body {
        mut process, cold, ..
    } = body;
    let mut reason = match exit {
        Ok(_) => ExitReason::Done,
        Err(error) => error.reason(),
    };
    let closed = catch_panic(|| process.close(&reason));
    let dropped = catch_panic(|| drop(process));
    output.clear();
    drop_all_contained(events.drain(..));
    let watches = cold.map(|cold| {
        drop_all_contained(cold.backlog.into_events());
        cold.watches
    });
    if let (true, Err(message)) = (exit.is_ok(), closed.and(dropped)) {
        reason = ExitReason::Panicked(message.as_str().into());
        let output = std::mem::replace(exit, Err(ProcessError::Panicked(message)));
        drop_contained(output);
    }
    (reason, watches)
}
