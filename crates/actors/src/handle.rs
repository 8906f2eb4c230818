//! The methods that this crate adds to a scheduler's handle.

use std::borrow::Borrow;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_scheduler::{ExitReason, Handle, Node, Pid, Process, Protocol, Receiver, Submission};

use crate::call::caller::{Asked, Caller};
use crate::call::errors::CallError;
use crate::future::async_fn::{self, AsyncFn, SpawnError};
use crate::future::inbox::Inbox;
use crate::future::join_handle::{JoinHandle, ended};
use crate::mailbox::sending::Sending;
use crate::nodes::ConnectError;
use crate::registry::{Broadcast, GroupError, RegisterError};
use crate::report::dump::Dump;
use crate::{ExecuteError, SubmissionExt, call, execute, nodes, registry};

/// The methods that this crate adds to a [`Handle`]: calls, futures as processes, names, groups.
pub trait HandleExt<P: Protocol>: Borrow<Handle<P>> {
    /// Sends the process `to` a message with a [`Caller`] in it, and waits until that is
    /// [answered](crate::StepOutputExt::answer). Blocking: for threads outside.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use filch_actors::{Caller, prelude::*};
    /// use filch_scheduler::{
    ///     Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
    /// };
    ///
    /// enum Words {}
    ///
    /// enum Message {
    ///     Put(String, u64),
    ///     Get(String, Caller<Option<u64>>),
    /// }
    /// # impl Protocol for Words {
    /// #     type Input = ();
    /// #     type Message = Message;
    /// #     type Command = ();
    /// #     type Reply = ();
    /// #     type Output = ();
    /// #     type Error = String;
    /// # }
    ///
    /// #[derive(Default)]
    /// struct Store(HashMap<String, u64>);
    ///
    /// impl Process<Words> for Store {
    /// #   fn init(
    /// #       &mut self,
    /// #       _: &Context<'_, Words>,
    /// #       _: &str,
    /// #       (): (),
    /// #   ) -> Result<(), InitError<Words>> {
    /// #       Ok(())
    /// #   }
    ///     fn step(
    ///         &mut self,
    ///         _: &Context<'_, Words>,
    ///         events: Events<'_, Words>,
    ///         out: &mut StepOutput<Words>,
    ///     ) -> Result<(), String> {
    ///         for event in events {
    ///             match event {
    ///                 Event::Message(Message::Put(word, count)) => {
    ///                     self.0.insert(word, count);
    ///                 }
    ///                 Event::Message(Message::Get(word, caller)) => {
    ///                     out.answer(caller, self.0.get(&word).copied());
    ///                 }
    ///                 _ => out.done(()),
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let scheduler = Scheduler::<Words>::builder().workers(2).build()?;
    /// let store = scheduler.submit(Store::default(), "run", ())?.pid();
    /// scheduler.send(store, Message::Put("filch".into(), 3))?;
    /// let count = scheduler.call(store, |caller| Message::Get("filch".into(), caller))?;
    /// assert_eq!(count, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the process waits for a message, and a worker is idle, none is woken: the calling thread
    /// takes the step that gets the message itself, on its own stack and with its thread-local
    /// values, as in [`execute`](crate::HandleExt::execute). Workers take all later steps, and all
    /// steps of a process with [idle priority](filch_scheduler::Submission::idle_priority), or on a
    /// [thread of its own](filch_scheduler::BoundThread).
    ///
    /// The caller waits until the turn that answers is over. So a lock that the caller holds does
    /// no more harm here than if a worker took the step, with one exception: see
    /// [`answer`](crate::StepOutputExt::answer).
    ///
    /// The thread's earlier acts happen before the step that sees the message; the process's acts
    /// up to the end of the step that answers happen before the return.
    ///
    /// # Errors
    /// [`CallError`]. The call always returns when the process or the scheduler ends, in whatever
    /// way.
    #[doc(alias = "gen_server")]
    fn call<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        call::errors::call_until(self.borrow(), to, None, message)
    }

    /// As [`call`](Self::call), for at most `timeout`. Takes no steps, as they might last longer.
    /// An answer that comes later is dropped.
    ///
    /// # Errors
    /// [`CallError::NotYet`] if there was no answer by then; else as [`call`](Self::call).
    fn call_timeout<R: Send + 'static>(
        &self,
        to: Pid,
        timeout: Duration,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Result<R, CallError<P>> {
        // A deadline that the clock cannot express never comes.
        let deadline = Instant::now().checked_add(timeout);
        call::errors::call_until(self.borrow(), to, deadline, message)
    }

    /// Sends the process `to` a message with a [`Caller`] in it at once; the future awaits the
    /// answer. For futures and async functions, or threads that have an executor of their own. A
    /// process [calls](crate::StepOutputExt::call) in its step.
    ///
    /// The process's acts up to the end of the step that answers happen before the future is ready.
    fn ask<R: Send + 'static>(
        &self,
        to: Pid,
        message: impl FnOnce(Caller<R>) -> P::Message,
    ) -> Asked<P, R> {
        let (caller, answer) = Caller::new();
        Asked::new(self.borrow().send(to, message(caller)).err(), answer)
    }

    /// Submits the process, waits for its end, and returns its output. Blocking.
    ///
    /// If a worker is idle, it is not woken: the calling thread takes the process's steps itself,
    /// as a *guest*, while they follow one another, and for about 100 µs at most besides the last
    /// one. While the process waits for its commands, the caller also runs what their handler, or
    /// the process, has made runnable meanwhile: such a task must not want a lock that the caller
    /// holds. It runs no other process. The steps run **on the caller's stack**, with its priority
    /// and its thread-local values, and count as a worker's: see [`is_worker`](Handle::is_worker).
    /// The caller waits for all that the process waits for, in either case: so a lock that it wants
    /// does no more harm than otherwise.
    /// [`Builder::threads`](filch_scheduler::Builder::threads) can forbid it, and a scheduler that
    /// lends its workers to a [pool](Handle::pool) has no guests.
    ///
    /// # Errors
    /// As [`submit`](Handle::submit) and
    /// [`ProcessHandle::join`](filch_scheduler::ProcessHandle::join).
    #[doc(alias = "block_on")]
    fn execute(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<P::Output, ExecuteError<P>> {
        execute::execute(self.borrow(), process, method, input, None)
    }

    /// As [`execute`](Self::execute), for at most `timeout`. Takes no steps, as they might last
    /// longer.
    ///
    /// # Errors
    /// [`ExecuteError::NotYet`], with the process's handle, if it had not ended by then; else as
    /// [`execute`](Self::execute).
    fn execute_timeout(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
        timeout: Duration,
    ) -> Result<P::Output, ExecuteError<P>> {
        execute::execute(self.borrow(), process, method, input, Some(timeout))
    }

    /// Submits a future, of any output, as a process. Lock-free, except for memory.
    ///
    /// Workers poll it, one at a time; waking it makes the process Ready. It is a process like any
    /// other, except that messages to its PID are refused, with
    /// [`Undelivered::Future`](filch_scheduler::Undelivered::Future). Signals, monitors and links
    /// reach it, but the events that they and the shutdown send are dropped. An
    /// [upgrade](Handle::upgrade) drops the future for another process, which takes messages; the
    /// future's handle then returns
    /// [`ProcessError::Terminated`](filch_scheduler::ProcessError::Terminated) if that process ends
    /// well, or its failure.
    ///
    /// ```
    /// # enum Any {}
    /// # impl filch_scheduler::Protocol for Any {
    /// #     type Input = (); type Message = (); type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_actors::prelude::*;
    /// # use filch_scheduler::Scheduler;
    /// let scheduler = Scheduler::<Any>::builder().workers(2).build()?;
    /// let answer = scheduler.spawn(async { 6 * 7 })?;
    /// let doubled = scheduler.spawn(async { answer.await.map(|answer| 2 * answer) })?;
    /// assert_eq!(doubled.join()??, 84);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SpawnError`], with the future, if the scheduler is shut down or full, or has no memory for
    /// one more process. (The box of a future of more than four words is not refused: see
    /// [`submit`](Handle::submit).)
    #[doc(alias = "goroutine")]
    fn spawn<F>(&self, future: F) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        async_fn::spawn(self.borrow(), future)
    }

    /// Submits an async function as a process, with an [`Inbox`] for its events: messages,
    /// [`Cancel`](filch_scheduler::Event::Cancel), ends of processes it watches or is linked to. It
    /// may await anything else meanwhile. It needs no input; its output is of any type.
    ///
    /// ```
    /// # enum Sums {}
    /// # impl filch_scheduler::Protocol for Sums {
    /// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
    /// #     type Output = (); type Error = String;
    /// # }
    /// # use filch_actors::prelude::*;
    /// # use filch_scheduler::{Event, Scheduler};
    /// # let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;
    /// let adder = scheduler.spawn_with(|mut inbox| async move {
    ///     let mut sum = 0;
    ///     while let Event::Message(number) = inbox.next().await {
    ///         sum += number;
    ///     }
    ///     sum
    /// })?;
    /// scheduler.send(adder.pid(), 40)?;
    /// scheduler.send(adder.pid(), 2)?;
    /// scheduler.cancel(adder.pid(), "that is all")?;
    /// assert_eq!(adder.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// When the patience of a shutdown is over, a function that has gone on after the
    /// [`Cancel`](filch_scheduler::Event::Cancel) is dropped where it is suspended. An
    /// [upgrade](Handle::upgrade) treats it as it does a [future](Self::spawn).
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn), with the function.
    ///
    /// # Panics
    /// If the function panics before it returns its future; with its message. Nothing is spawned.
    fn spawn_with<C, F>(&self, function: C) -> Result<JoinHandle<P, F::Output>, SpawnError<P, C>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.submission_with(function).spawn()
    }

    /// Prepares to submit an async function with options:
    /// `handle.submission_with(|inbox| async move { … }).trap_exits().spawn()`. See
    /// [`spawn_with`](Self::spawn_with).
    fn submission_with<C, F>(&self, function: C) -> Submission<'_, P, AsyncFn<C, F>>
    where
        C: FnOnce(Inbox<P>) -> F,
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let submission = self.borrow().prepare(AsyncFn::new(function));
        submission.future().reads_later()
    }

    /// Sends the process `to` a message at once. If its [mailbox](crate::SubmissionExt::mailbox) is
    /// full, the message waits in order, whatever the mailbox's [policy](crate::WhenFull): see the
    /// [table](crate#a-message-for-a-full-mailbox). The future is ready when a step is given the
    /// message, or an async function reads it, or as soon as there is room for it, except where the
    /// oldest are dropped. Futures and [async functions](Self::spawn_with) await it, a thread
    /// outside [waits](Sending::wait) for it, and a process yields it [as a
    /// command](crate::StepOutputExt::send_when_room).
    ///
    /// Its output is what [`send`](Handle::send) returns: an error, with the message, if the
    /// process has ended, or ends before a worker takes the message; `Ok` does not mean that a step
    /// has seen it. A message that waits is not sent yet: its sender's end or a cancel may come
    /// first. Dropping the future leaves it waiting. One to another node waits for neither room nor
    /// a [backlog](filch_scheduler::Undelivered::Backlog): it comes back.
    ///
    /// An async function that awaits this for its own full mailbox waits for ever. So do two
    /// functions that await room in each other's mailboxes and nothing else.
    fn send_when_room(&self, to: Pid, message: P::Message) -> Sending<P> {
        Sending::begin(self.borrow(), to, message)
    }

    /// Gives the process `pid` of this scheduler a name, until it ends. A process may have many.
    /// Takes a lock for a moment.
    ///
    /// # Errors
    /// [`RegisterError`], if a live process has that name, or the process has ended or is of
    /// another scheduler.
    fn register(&self, name: &str, pid: Pid) -> Result<(), RegisterError> {
        registry::register(self.borrow(), name, pid)
    }

    /// Removes a name. Returns the live process that had it, if any. Takes a lock for a moment.
    fn unregister(&self, name: &str) -> Option<Pid> {
        registry::unregister(self.borrow(), name)
    }

    /// Returns the process of that name, if it lives. Takes a shared lock for a moment.
    fn whereis(&self, name: &str) -> Option<Pid> {
        registry::whereis(self.borrow(), name)
    }

    /// Returns the names of that process, in no order. Looks at all names that there are.
    fn names(&self, pid: Pid) -> Vec<Arc<str>> {
        registry::names(self.borrow(), pid)
    }

    /// Puts the process `pid` of this scheduler into the group of that name, until it
    /// [leaves](Self::leave_group) or ends. A process may be in many groups. Takes a lock for a
    /// moment.
    ///
    /// # Errors
    /// [`GroupError`].
    #[doc(alias = "pg")]
    fn join_group(&self, name: &str, pid: Pid) -> Result<(), GroupError> {
        registry::join(self.borrow(), name, pid)
    }

    /// Takes the process out of the group; returns true if it was in it. Takes a lock for a moment.
    fn leave_group(&self, name: &str, pid: Pid) -> bool {
        registry::leave(self.borrow(), name, pid)
    }

    /// Returns the processes of the group, in the order in which they joined; none if there is no
    /// such group. One that is ending may be among them. Takes a lock for a moment, and looks at
    /// each.
    fn group(&self, name: &str) -> Vec<Pid> {
        registry::members(self.borrow(), name)
    }

    /// Sends each process of the group the message that `message` makes for it, in the order in
    /// which they joined. See [`send`](Handle::send).
    fn broadcast(&self, name: &str, message: impl FnMut(Pid) -> P::Message) -> Broadcast<P> {
        registry::broadcast(self.borrow(), name, message)
    }

    /// Returns a future that waits until the process `pid` has ended, and returns the reason:
    /// [`ExitReason::NoSuchProcess`] if it ended before this call, or never was. The process's acts
    /// happen before the return.
    fn ended(&self, pid: Pid) -> impl Future<Output = ExitReason> + Send + 'static {
        ended(self.borrow(), pid)
    }

    /// Makes `receiver` take the messages for processes on `node` from now on. Returns the one
    /// before it. A receiver for the scheduler's own node is never used. The shutdown drops the
    /// receivers, so two schedulers may hold each other's handles.
    ///
    /// # Errors
    /// [`ConnectError`], with the receiver, once the scheduler is shut down.
    fn connect<R: Receiver<P>>(
        &self,
        node: Node,
        receiver: R,
    ) -> Result<Option<Arc<dyn Receiver<P>>>, ConnectError<R>> {
        nodes::connect(self.borrow(), node, receiver)
    }

    /// Refuses messages for processes on `node` from now on. Returns the receiver that took them
    /// until now; a message that is being sent may still reach it.
    fn disconnect(&self, node: Node) -> Option<Arc<dyn Receiver<P>>> {
        nodes::disconnect(self.borrow(), node)
    }

    /// Returns a snapshot, to be printed when something hangs: of the workers, their threads, the
    /// threads of [`BlockingThreads`](crate::BlockingThreads), and the processes with the longest
    /// mailboxes. Looks at each process.
    fn dump(&self) -> Dump {
        Dump::of(self.borrow())
    }
}

impl<P: Protocol> HandleExt<P> for Handle<P> {}
