//! What running a task means here: one step of one process, and what follows from it.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::ptr::NonNull;

use filch_process_state::LetGo;
use filch_processors::{BoundId, Counter, Runner};
use filch_sync::atomic::Ordering;

use crate::body::Slot;
use crate::body::{Body, Waits};
use crate::bond::Bonds;
use crate::command::{CommandHandler, Completion, dispatch};
use crate::exit::Exit;
use crate::hooks;
use crate::mail::{Mail, put_back};
use crate::share::{Lag, Share};
use crate::signal::{Item, Signal};
use crate::step_output::{Status, Yield};
use crate::{
    Context, Event, Events, ExitReason, Handle, Pid, ProcessError, Protocol, StepOutput,
    WorkerStats,
};
use filch_process_table::panic::{catch_panic, drop_all_contained, drop_contained};
use filch_process_table::{Closed, Urgent};

/// A process in a run queue: its slot. The process's own pin keeps the slot from meaning another
/// one.
///
/// An address and not an index: it is looked up between two read-modify-writes, where nothing else
/// goes on.
pub(crate) struct Task<P: Protocol>(NonNull<Slot<P>>);

impl<P: Protocol> Task<P> {
    #[inline]
    pub(crate) fn of(slot: &Slot<P>) -> Self {
        Self(NonNull::from(slot))
    }
}

// SAFETY: it stands for a reference to a slot, which is Sync.
unsafe impl<P: Protocol> Send for Task<P> {}

/// The scheduler's side of the processors.
pub(crate) struct Driver<P: Protocol> {
    handle: Handle<P>,
    /// Here and not with the handles: a handler may keep completions, and each of those is a
    /// handle.
    handler: Option<Box<dyn CommandHandler<P>>>,
    share: Share,
}

/// What a worker keeps from step to step, so that steps allocate nothing.
pub(crate) struct Scratch<P: Protocol> {
    /// The events of one step: never more than its share.
    inbox: VecDeque<Event<P>>,
    output: StepOutput<P>,
    /// The worker that the process to be run begins on. After user code, see [`Driver::worker`].
    worker: usize,
}

/// What one worker has done. It alone writes; anybody reads.
#[derive(Default)]
pub(crate) struct Counters {
    steps: Counter,
    messages: Counter,
    commands: Counter,
    completions: Counter,
    ended: Counter,
    failed: Counter,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> WorkerStats {
        WorkerStats {
            steps: self.steps.get(),
            messages: self.messages.get(),
            commands: self.commands.get(),
            completions: self.completions.get(),
            ended: self.ended.get(),
            failed: self.failed.get(),
            ..WorkerStats::default()
        }
    }
}

impl<P: Protocol> Runner<Task<P>> for Driver<P> {
    type Scratch = Scratch<P>;

    fn scratch(&self, _thread: usize) -> Scratch<P> {
        Scratch {
            inbox: VecDeque::new(),
            output: StepOutput::new(),
            worker: 0,
        }
    }

    #[inline]
    fn bound_to(&self, task: &Task<P>) -> Option<BoundId> {
        BoundId::from_bits(self.slot(task).bound_to())
    }

    #[inline]
    fn label(&self, task: &Task<P>) -> Option<NonZeroU64> {
        NonZeroU64::new(u64::from(self.slot(task).index()) + 1)
    }

    fn describe(&self, label: NonZeroU64) -> String {
        match self.handle.table().occupant(label.get() - 1) {
            Some(pid) => format!("process {pid}"),
            None => "a process that has just ended".to_owned(),
        }
    }

    #[inline]
    fn on_processor(&self, processor: usize, scratch: &mut Scratch<P>) {
        scratch.worker = processor;
    }

    fn run(&self, task: Task<P>, scratch: &mut Scratch<P>) {
        let slot = self.slot(&task);
        if slot.state.start().is_err() {
            unreachable!("a process in a run queue is Ready, and in one run queue only");
        }
        match self.step(slot, scratch) {
            After::Waits => {}
            After::Again => self.handle.enqueue(slot),
            After::GaveWay => self.handle.requeue(slot),
            After::Ended(exit) => self.end(slot, exit, scratch),
        }
    }
}

/// What became of a process by a step.
enum After<P: Protocol> {
    /// It was let go and waits; another worker may have it already.
    Waits,
    /// It was let go and is Ready: something came while it ran, or it has had its share of what is
    /// there, and not yet its slice.
    Again,
    /// It was let go and is Ready: it has more to do, and others come first.
    GaveWay,
    /// It has not been let go, and never will be.
    Ended(Exit<P>),
}

impl<P: Protocol> Driver<P> {
    pub(crate) fn new(
        handle: Handle<P>,
        handler: Option<Box<dyn CommandHandler<P>>>,
        share: Share,
    ) -> Self {
        Self {
            handle,
            handler,
            share,
        }
    }

    /// The slot of a process from a run queue.
    #[inline]
    fn slot(&self, task: &Task<P>) -> &Slot<P> {
        // SAFETY: only this scheduler's slots get into its run queues. They neither move nor go
        // before its table does, and the driver's handle keeps that.
        unsafe { task.0.as_ref() }
    }

    /// The worker that the thread is just now. User code that blocks may come back on another one:
    /// ask again.
    fn worker(&self) -> usize {
        let Some(worker) = self.handle.shared.processors.current() else {
            unreachable!("tasks run on workers");
        };
        worker
    }

    /// The figures of the [worker](Self::worker).
    fn counters(&self) -> &Counters {
        &self.handle.shared.counters[self.worker()]
    }

    fn step(&self, slot: &Slot<P>, scratch: &mut Scratch<P>) -> After<P> {
        // SAFETY: the state is Running, by this worker's `start`: its Acquire saw the Release of
        // whoever had the process before.
        let Some(body) = (unsafe { slot.life.body() }) else {
            unreachable!("a process that runs has a body");
        };
        // ORDERING: Relaxed: the RMWs on the state order it. `abort_all` sets the flag, then wakes:
        // a wake before our `start` is acquired by it; after a later one the process runs once
        // more, and comes here again.
        if self.handle.shared.aborting.load(Ordering::Relaxed) {
            // ORDERING: Relaxed: released by the leaving that follows.
            self.handle.shared.aborted.fetch_add(1, Ordering::Relaxed);
            return After::Ended(Err(ProcessError::ShutDown));
        }
        let word = match slot.urgency.take() {
            Urgent::Nothing => false,
            Urgent::Signal => true,
            Urgent::End => return After::Ended(Err(ProcessError::Terminated)),
        };
        let Scratch {
            inbox,
            output,
            worker,
        } = scratch;
        let mut mail = Mail::new();
        mail.recall(body, inbox, self.share.events);
        let room = self.share.events - inbox.len();
        // SAFETY: as for the body: the worker that has the process is its queue's one consumer.
        let mut more = unsafe {
            slot.events
                .drain_up_to(room, |item| mail.sort(item, body, inbox))
        };
        if more && (word || !mail.enders.end(body.waits, inbox)) {
            more = self.look_ahead(slot, body, &mut mail, inbox, word);
        }
        let context = Context::of(&self.handle, slot.index(), slot.generation());
        // In pieces: to be dropped at the end, it would have to be kept until then.
        let Mail { enders, orders } = mail;
        if let Some(orders) = orders {
            if let Err(error) = orders.carry_out(&context, body) {
                return After::Ended(Err(error));
            }
            // It goes on, so it was replaced: by no future.
            slot.awaited.set_future(false);
            // Its `init` may have blocked, and the figures have one writer each.
            *worker = self.worker();
        }
        if !enders.end(body.waits, inbox) {
            // It was woken for a signal; or for what had been drained by the step before: the flag
            // is set after the push, and the step came in between. It would not know what to do
            // with a step without events.
            put_back(body, inbox);
            // SAFETY: as for the body.
            let lag = unsafe { self.share.lag(slot, body, more) };
            return self.let_go_behind(slot, body.waits, lag);
        }
        if slot.mailbox.is_limited() {
            let messages = inbox
                .iter()
                .filter(|event| matches!(event, Event::Message(_)));
            slot.mailbox.deliver(messages.count() as u32);
        }
        let counters = &self.handle.shared.counters[*worker];
        counters.steps.add(1);
        let others = inbox.len() as u64 - u64::from(enders.completions);
        counters.messages.add(others);
        slot.stats.step(others);
        if enders.completions > 0 {
            counters.completions.add(enders.completions.into());
            slot.awaited.answer(enders.completions);
        }

        match catch_panic(|| body.process.step(&context, Events::new(inbox), output)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return After::Ended(Err(ProcessError::Failed(error))),
            Err(message) => return After::Ended(Err(ProcessError::Panicked(message))),
        }
        if !inbox.is_empty() {
            // The step has forgotten its events instead of dropping them. They are not the next
            // process's.
            drop_all_contained(inbox.drain(..));
        }
        let status = output.take_status();
        if output.has_yields() {
            self.dispatch(context.pid(), slot, output);
        }
        body.waits = match status {
            Status::Done(output) => return After::Ended(Ok(Some(output))),
            Status::Ended => return After::Ended(Ok(None)),
            Status::Pending => {
                slot.awaited.set_future(true);
                Waits::Wakes
            }
            Status::Wait if slot.awaited.commands() == 0 => {
                return After::Ended(Err(ProcessError::WaitsForNothing));
            }
            Status::Wait => Waits::Commands,
            Status::Idle => Waits::Events,
            Status::Continue => Waits::Turn,
            Status::Upgrade(successor) => match successor.take_over(&context, body) {
                Ok(()) => Waits::Turn,
                Err(error) => return After::Ended(Err(error)),
            },
        };
        if more || body.held.is_some() {
            // SAFETY: as for the body.
            let lag = unsafe { self.share.lag(slot, body, more) };
            return self.let_go_behind(slot, body.waits, lag);
        }
        self.let_go(slot, body.waits)
    }

    /// Looks on, behind the share, where what matters has not been found: for signals among all
    /// that was pushed, if there is `word` of any; else for what ends a wait for commands. Whether
    /// there is more in the queue.
    #[cold]
    #[inline(never)]
    fn look_ahead(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        mail: &mut Mail<P>,
        inbox: &mut VecDeque<Event<P>>,
        word: bool,
    ) -> bool {
        let most = self.share.look_ahead(word);
        // SAFETY: the worker that has the process, which is the caller, is its queue's one
        // consumer.
        let more = unsafe { slot.events.drain_up_to(most, |item| mail.stow(item, body)) };
        mail.pick(body, inbox, self.share.events);
        more
    }

    /// Hands the commands of a step to the handler. Apart from `step`, as most steps have none.
    #[inline(never)]
    fn dispatch(&self, pid: Pid, slot: &Slot<P>, output: &mut StepOutput<P>) {
        let handler = self.handler.as_deref();
        for Yield { tag, command } in output.drain_yields() {
            slot.awaited.ask();
            self.counters().commands.add(1);
            // SAFETY: the process is Running, by this worker.
            let completion = unsafe { Completion::new(&self.handle, pid, tag) };
            dispatch(handler, command, completion);
        }
    }

    /// Lets go of a process that has perhaps not caught up with its events. Apart from `let_go`, as
    /// most have.
    ///
    /// It is not given the body: a reference that is an argument would have to stay exclusive until
    /// this returns, and the process is another worker's before that.
    #[cold]
    #[inline(never)]
    fn let_go_behind(&self, slot: &Slot<P>, waits: Waits, lag: Lag) -> After<P> {
        if lag == Lag::None {
            return self.let_go(slot, waits);
        }
        match self.let_go(slot, Waits::Turn) {
            After::GaveWay if lag == Lag::GoesOn => After::Again,
            after => after,
        }
    }

    /// Lets go of the process. From the RMW on it may be running on another worker.
    fn let_go(&self, slot: &Slot<P>, waits: Waits) -> After<P> {
        let release = match waits {
            Waits::Turn => slot.state.yield_now(),
            Waits::Commands => slot.state.block(),
            Waits::Events | Waits::Wakes => slot.state.idle(),
        };
        match release {
            Ok(LetGo::Waits) => After::Waits,
            Ok(LetGo::Enqueue) if waits == Waits::Turn => After::GaveWay,
            Ok(LetGo::Enqueue) => After::Again,
            Err(error) => {
                unreachable!("only the worker that made it Running lets go of it: {error}")
            }
        }
    }

    /// Ends the process that this worker has: closes it, tells who waits, and gives its place in
    /// the table up. Apart from `run`, so that this one, which has little to do for a message,
    /// needs few registers.
    #[inline(never)]
    fn end(&self, slot: &Slot<P>, mut exit: Exit<P>, scratch: &mut Scratch<P>) {
        // SAFETY: the state is Running, and this worker made it so.
        let closed = unsafe { Closed::begin(self.handle.table(), slot.index()) };
        // SAFETY: the state is still Running, and this worker made it so.
        let Some(body) = (unsafe { slot.life.take_body() }) else {
            unreachable!("a process ends once");
        };
        let Body {
            mut process, held, ..
        } = body;
        let mut reason = ExitReason::of(&exit);
        // All of this is user code, and each part of it may panic: one by one, so that no panic
        // keeps the rest.
        let said = catch_panic(|| process.close(&reason));
        let dropped = catch_panic(|| drop(process));
        scratch.output.clear();
        drop_all_contained(scratch.inbox.drain(..));
        let bonds = held.map(|held| {
            drop_all_contained(held.backlog.into_events());
            held.bonds
        });
        if let (true, Err(message)) = (exit.is_ok(), said.and(dropped)) {
            reason = ExitReason::Panicked(message.as_str().into());
            let output = std::mem::replace(&mut exit, Err(ProcessError::Panicked(message)));
            drop_contained(output);
        }
        let counters = self.counters();
        counters.ended.add(1);
        counters.failed.add(u64::from(exit.is_err()));
        let context = Context::of(&self.handle, slot.index(), slot.generation());
        let release = |bond| self.handle.release(context.pid(), &bond, &reason);
        let completed = closed.complete(|item| {
            if let Item::Signal(Signal::Tie(bond)) = item {
                release(bond);
            }
        });
        bonds
            .into_iter()
            .flat_map(Bonds::into_iter)
            .for_each(release);
        hooks::complete(&context, &reason);
        // Before whoever joins the process is told: it finds room for another one.
        self.handle.leave();
        completed.tell(exit);
    }
}
