//! The start of a process, and of a new version of it: calls of `init`.

use filch_sync::panic::{catch_panic, drop_contained};

use crate::process::output::Successor;
use crate::table::body::{Body, ProcessBox};
use crate::{Context, ExitReason, InitError, Process, ProcessError, Protocol};

/// What reports call the process. That is the user's code, which may panic.
pub(crate) fn type_name<P: Protocol>(process: &dyn Process<P>) -> &'static str {
    catch_panic(|| process.type_name()).unwrap_or("(its `type_name` panics)")
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

/// Starts the new version of a process in place of the one that the caller has. Apart, as few steps
/// end so.
///
/// # Errors
/// What the process ends with.
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
        let reason = ExitReason::not_started(&error);
        let _ = catch_panic(|| process.close(&reason));
        drop_contained(process);
        return Err(ProcessError::Upgrade(error));
    }
    let closed = catch_panic(|| body.process.close(&ExitReason::Upgraded));
    body.reads_later = false;
    if let Some(journal) = &context.handle().shared().journal {
        journal.replace(context.pid(), type_name(&*process));
    }
    // The old one is dropped where it is: it may be a future, which must not move. If its
    // destructor panics, the new one is in its place all the same.
    let dropped = catch_panic(|| body.process = ProcessBox::boxed(process));
    closed.and(dropped).map_err(ProcessError::Panicked)
}
