//! Commands that a process does: submit it and wait for its end, as a command.

use filch_scheduler::{Completion, Pid, Process, Protocol};

use crate::ExecuteError;

/// Submits `process` to do the command: its exit, turned into an answer by `reply`, completes it.
/// The process that yielded the command waits for it as for any other, and no worker waits at all.
/// Returns the PID of the new process, if it was submitted.
///
/// `reply` runs where the process ends, or here, if the process was not submitted. If it panics,
/// the command completes with that message. For a process that runs already:
/// [`Completion::follow`].
///
/// The example `family` of this crate shows its use.
pub fn execute_for<P: Protocol>(
    completion: Completion<P>,
    process: impl Process<P> + 'static,
    method: &str,
    input: P::Input,
    reply: impl FnOnce(Result<P::Output, ExecuteError<P>>) -> Result<P::Reply, P::Error>
    + Send
    + 'static,
) -> Option<Pid> {
    match completion.handle().submit(process, method, input) {
        Ok(child) => {
            let pid = child.pid();
            completion.follow(child, |exit| reply(exit.map_err(ExecuteError::Process)));
            Some(pid)
        }
        Err(error) => {
            completion.answer_by(|| reply(Err(ExecuteError::Submit(error))));
            None
        }
    }
}
