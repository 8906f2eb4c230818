use crate::{Context, ExitReason, HookError, Protocol};
use filch_process_table::panic::catch_panic;

/// What a scheduler tells of every life: whoever keeps a register of processes, counts them, or
/// decides who may run.
///
/// Both hooks run in the midst of the scheduler's work, on whatever thread does it: one that blocks
/// keeps that thread. A panic in a hook harms nobody else.
///
/// The hooks belong to what all [handles](crate::Handle) share and are dropped with the last of
/// them: hooks that keep a handle themselves are never dropped. Each call brings one along.
///
/// ```
/// # use filch_scheduler::Protocol;
/// # enum Any {}
/// # impl Protocol for Any {
/// #     type Input = (); type Message = (); type Command = (); type Reply = (); type Output = (); type Error = String;
/// # }
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use filch_scheduler::{Context, ExitReason, LifeCycle, Scheduler};
///
/// /// Counts the ends that were not normal.
/// struct Failures(AtomicUsize);
///
/// impl LifeCycle<Any> for Failures {
///     fn on_complete(&self, context: &Context<'_, Any>, reason: &ExitReason) {
///         if !reason.is_normal() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///             eprintln!("process {} {reason}", context.pid());
///         }
///     }
/// }
///
/// let scheduler = Scheduler::builder().hooks(Failures(AtomicUsize::new(0))).build()?;
/// # Ok::<(), filch_scheduler::BuildError>(())
/// ```
pub trait LifeCycle<P: Protocol>: Send + Sync + 'static {
    /// A process is about to start: its [`init`](crate::Process::init) has succeeded, its first
    /// step has not begun. Runs on the thread that submits.
    ///
    /// # Errors
    /// The process is closed instead, and [`submit`](crate::Handle::submit) returns
    /// [`SubmitError::Hook`](crate::SubmitError::Hook) with this error.
    fn on_start(&self, context: &Context<'_, P>) -> Result<(), P::Error> {
        let _ = context;
        Ok(())
    }

    /// A process is over: called exactly once for each that was started, on the worker that ended
    /// it, when it has been closed and dropped, and before anybody who joins it, or shuts the
    /// scheduler down, goes on. A panic in here is contained and has no other effect.
    fn on_complete(&self, context: &Context<'_, P>, reason: &ExitReason) {
        let _ = (context, reason);
    }
}

/// Asks the hooks, if there are any.
pub(crate) fn start<P: Protocol>(context: &Context<'_, P>) -> Result<(), HookError<P>> {
    let Some(hooks) = &context.handle().shared.hooks else {
        return Ok(());
    };
    match catch_panic(|| hooks.on_start(context)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(HookError::Refused(error)),
        Err(message) => Err(HookError::Panicked(message)),
    }
}

/// Tells the hooks, if there are any.
pub(crate) fn complete<P: Protocol>(context: &Context<'_, P>, reason: &ExitReason) {
    if let Some(hooks) = &context.handle().shared.hooks {
        let _ = catch_panic(|| hooks.on_complete(context, reason));
    }
}
