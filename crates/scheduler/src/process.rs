use crate::{Context, Events, ExitReason, InitError, Protocol, StepOutput};

/// A state machine that the scheduler drives, one step at a time.
///
/// A process is owned by the scheduler from [`submit`](crate::Handle::submit) to its end, runs on
/// one worker at a time, and may run on another at every step. What one step wrote to `self`, the
/// next one sees, whichever thread it runs on.
///
/// Exactly one [`close`](Self::close) ends every life, however it ends: done, error, panic, a
/// refused `init`, or a shutdown that ran out of patience. A panic in any of the three methods ends
/// this process and no other.
pub trait Process<P: Protocol>: Send {
    /// Prepares the process to run from the entry point `method`. Runs on the thread that submits.
    ///
    /// # Errors
    /// [`InitError::unknown_method`] for an entry point that this process does not have, or the
    /// process's own error. `submit` returns it; the process is closed and was never registered.
    fn init(
        &mut self,
        context: &Context<'_, P>,
        method: &str,
        input: P::Input,
    ) -> Result<(), InitError<P>>;

    /// Advances by the next `events`, which have come since the last step or were too many for that
    /// one, and writes to `out` what to do next. Only the first step, that of a
    /// [new version](StepOutput::upgrade) too, and the one after [`go_on`](StepOutput::go_on), may
    /// have no events.
    ///
    /// # Errors
    /// The process ends with [`ProcessError::Failed`](crate::ProcessError::Failed).
    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error>;

    /// Releases what the process holds. Called once, after the last step, with the reason why there
    /// is no other one.
    ///
    /// It gets no context: a process that is being closed is out of reach already, and who must
    /// hear of its end [watches](crate::Handle::monitor) it.
    fn close(&mut self, reason: &ExitReason) {
        let _ = reason;
    }
}
