//! Commands that a process does: submit it and wait for its end, as a command.

use filch_scheduler::{Completion, Pid, Process, ProcessError, ProcessHandle, Protocol};

use crate::ExecuteError;

/// Commands that processes do.
pub trait Follows<P: Protocol> {
    /// Submits `process` to do the command: its exit, turned into an answer by `reply`, completes
    /// it. The process that yielded the command waits for it as for any other, and no worker waits
    /// at all. Returns the PID of the new process, if it was submitted.
    ///
    /// `reply` runs where the process ends, or here, if it was not even submitted. If it panics,
    /// the command completes with that message.
    ///
    /// The example `family` of this crate has it at work.
    fn execute(
        self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
        reply: impl FnOnce(Result<P::Output, ExecuteError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) -> Option<Pid>;

    /// The exit of `process`, through `reply`, is the answer. See [`execute`](Self::execute).
    fn follow(
        self,
        process: ProcessHandle<P>,
        reply: impl FnOnce(Result<P::Output, ProcessError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    );
}

impl<P: Protocol> Follows<P> for Completion<P> {
    fn execute(
        self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
        reply: impl FnOnce(Result<P::Output, ExecuteError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) -> Option<Pid> {
        match self.handle().submit(process, method, input) {
            Ok(child) => {
                let pid = child.pid();
                self.follow(child, |exit| reply(exit.map_err(ExecuteError::Process)));
                Some(pid)
            }
            Err(error) => {
                self.answer_by(|| reply(Err(ExecuteError::Submit(error))));
                None
            }
        }
    }

    fn follow(
        self,
        process: ProcessHandle<P>,
        reply: impl FnOnce(Result<P::Output, ProcessError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) {
        process.on_exit(|exit| self.answer_by(|| reply(exit)));
    }
}
