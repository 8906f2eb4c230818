//! Commands that a process does: spawn and wait, as a command.

use crate::{Completion, ExecuteError, Pid, Process, ProcessError, ProcessHandle, Protocol};

impl<P: Protocol> Completion<P> {
    /// Submits `process` as the doer of the command: its exit, through `reply`, is the answer. The
    /// process that yielded the command waits for it like for any other, and no worker waits at
    /// all. Returns the PID of the new process, if it was submitted.
    ///
    /// `reply` runs where the process ends, or here, if it was not even submitted. If it panics,
    /// the command completes with that message.
    ///
    /// ```
    /// # use filch_scheduler::{Completion, Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput};
    /// enum Family {}
    /// impl Protocol for Family {
    ///     type Input = u64;
    ///     type Message = ();
    ///     type Command = u64; // the generation of the child that I want
    ///     type Reply = u64;
    ///     type Output = u64;
    ///     type Error = String;
    /// }
    ///
    /// /// Has a child, unless it is the last of its line, and counts the generations from there.
    /// #[derive(Default)]
    /// struct Parent(u64);
    /// impl Process<Family> for Parent {
    ///     fn init(&mut self, _: &Context<'_, Family>, _: &str, left: u64) -> Result<(), InitError<Family>> {
    ///         self.0 = left;
    ///         Ok(())
    ///     }
    ///     fn step(
    ///         &mut self,
    ///         _: &Context<'_, Family>,
    ///         mut events: Events<'_, Family>,
    ///         out: &mut StepOutput<Family>,
    ///     ) -> Result<(), String> {
    ///         if let Some(Event::Completed { result, .. }) = events.next() {
    ///             out.done(1 + result.map_err(|error| error.to_string())?);
    ///         } else if self.0 == 0 {
    ///             out.done(1);
    ///         } else {
    ///             out.yield_command(0, self.0 - 1);
    ///             out.wait();
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let scheduler = Scheduler::<Family>::builder()
    ///     .workers(1)
    ///     .handler(|left: u64, completion: Completion<Family>| {
    ///         completion.execute(Parent::default(), "", left, |exit| exit.map_err(|error| error.to_string()));
    ///     })
    ///     .build()?;
    /// assert_eq!(scheduler.execute(Parent::default(), "", 9)?, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn execute(
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

    /// The exit of `process`, through `reply`, is the answer. See [`execute`](Self::execute).
    pub fn follow(
        self,
        process: ProcessHandle<P>,
        reply: impl FnOnce(Result<P::Output, ProcessError<P>>) -> Result<P::Reply, P::Error>
        + Send
        + 'static,
    ) {
        process.on_exit(|exit| self.answer_by(|| reply(exit)));
    }
}
