//! The turn of a process, from a run queue back to one, from top to bottom: see the
//! [folder](crate::turn).

use std::num::NonZeroU64;
use std::sync::Arc;

use filch_process_state::LetGo;
use filch_processors::{BoundId, Processors, Runner};
use filch_promise::Resolver;
use filch_sync::atomic::Ordering;
use filch_sync::panic::{catch_panic, drop_all_contained};
use filch_timers::{TimerThread, drop_with_timers};

use crate::handle::life_cycle::{panicked, take_over, type_name};
use crate::process::command::{CommandHandler, OpenCommand, dispatch};
use crate::process::output::{Over, Status};
use crate::table::body::{Body, EventList, Waits};
use crate::table::slot::{ENDS, LIMITED, Slot, Task, URGENT};
use crate::turn::budget::Budget;
use crate::turn::end::{Scratch, end};
use crate::turn::inbox::{Inbox, count_delivered};
use crate::{Context, Events, Handle, ProcessError, Protocol, StepOutput};

/// The scheduler's side of the processors.
pub(crate) struct Driver<P: Protocol> {
    pub(crate) handle: Handle<P>,
    /// Here and not with the handles: a handler may keep completions, and each completion has a
    /// handle.
    pub(crate) handler: Option<Box<CommandHandler<P>>>,
    pub(crate) budget: Budget,
    /// Told of the end of the last worker.
    pub(crate) left: Option<Resolver<Vec<TimerThread>>>,
}

impl<P: Protocol> Driver<P> {
    /// Returns the slot of a process from a run queue.
    #[inline]
    fn slot(&self, task: &Task<P>) -> &Slot<P> {
        // SAFETY: only this scheduler's slots get into its run queues, and the driver's handle
        // keeps their table.
        unsafe { task.slot() }
    }
}

impl<P: Protocol> Drop for Driver<P> {
    /// Drops the handler with the last worker, without waiting for the timers it had.
    fn drop(&mut self) {
        let timers = drop_with_timers(self.handler.take());
        if let Some(left) = self.left.take() {
            left.resolve(timers);
        }
    }
}

impl<P: Protocol> Runner<Task<P>> for Driver<P> {
    type Scratch = Scratch<P>;

    fn scratch(&self, _thread: usize) -> Scratch<P> {
        Scratch::new(self.handle.clone())
    }

    #[inline]
    fn bound_to(&self, task: &Task<P>) -> Option<BoundId> {
        BoundId::from_bits(self.slot(task).bound_to())
    }

    #[inline]
    fn label(&self, task: &Task<P>) -> Option<NonZeroU64> {
        NonZeroU64::new(u64::from(self.slot(task).index) + 1)
    }

    fn describe(&self, label: NonZeroU64) -> String {
        match self.handle.labelled(label) {
            Some(pid) => format!("process {pid}"),
            None => "a process that has just ended".to_owned(),
        }
    }

    #[inline]
    fn on_processor(&self, processor: usize, scratch: &mut Scratch<P>) {
        scratch.worker = processor;
    }

    fn run(&self, task: Task<P>, _: &Arc<Processors<Task<P>>>, scratch: &mut Scratch<P>) {
        let slot = self.slot(&task);
        if slot.state.start().is_err() {
            unreachable!("a process in a run queue is Ready, and in one run queue only");
        }
        match self.turn(slot, scratch) {
            Ok(After::Waits) => {}
            Ok(After::Again) => self.handle.enqueue(slot),
            Ok(After::GaveWay) => self.handle.requeue(slot),
            Err(Over) => end(&self.handle, slot, scratch),
        }
        // Behind all user code of the turn: see `StepOutput::give_after_turn`.
        if scratch.output.has_more {
            scratch.output.give_answers();
        }
    }
}

impl<P: Protocol> Driver<P> {
    /// Takes one turn of the process that this worker has just made Running, and lets go of it.
    ///
    /// # Errors
    /// The process is to end. It has not been let go, and never will be.
    fn turn(&self, slot: &Slot<P>, scratch: &mut Scratch<P>) -> Result<After, Over> {
        // SAFETY: the state is Running, by this worker's `start`: its Acquire saw the Release of
        // the worker, or the submitter, that had the process before.
        let Some(body) = (unsafe { slot.life.body() }) else {
            unreachable!("a process that runs has a body");
        };
        let (events, output) = (&mut scratch.events, &mut scratch.output);
        let has_urgent_signal = self.end_asked(slot, output)?;
        let (mut inbox, more) = self.fill(slot, body, events, has_urgent_signal);
        // SAFETY: this worker has the process for the whole turn, and it is this scheduler's.
        let context = unsafe { Context::new(&self.handle, slot) };
        let is_behind = more || body.has_backlog();
        if is_behind && !body.sampled && body.waits.end_by(inbox.completions, events) {
            self.budget.sample(body, events, &mut inbox);
        }
        if let Some(pending) = inbox.pending.take() {
            let carried = pending.carry_out(&context, body);
            carried.map_err(|error| output.fail(error))?;
            // If it was replaced, `init` may have blocked, and each counter has one writer.
            scratch.worker = self.handle.worker();
        }
        if !body.waits.end_by(inbox.completions, events) {
            // It was woken for a signal, or for what the step before had drained already: the flag
            // is set after the push. A step would get no event that it waits for.
            inbox.put_back(body, events);
            // SAFETY: as for the body.
            let backlogged = unsafe { self.budget.backlogged(slot, body, more) };
            return Ok(let_go_backlogged(slot, body.waits, backlogged));
        }
        self.count(slot, body, events, inbox.completions, scratch.worker);
        if is_behind {
            self.budget.begin_step(body, events.len());
        }
        body.waits = self.take_step(slot, &context, body, events, &mut scratch.output)?;
        if body.cold.is_some() {
            // SAFETY: as for the body.
            let backlogged = unsafe { self.budget.backlogged(slot, body, more) };
            return Ok(let_go_backlogged(slot, body.waits, backlogged));
        }
        Ok(let_go(slot, body.waits))
    }

    /// Returns true if the queue has an urgent signal.
    ///
    /// # Errors
    /// The process is to end at once.
    #[inline]
    fn end_asked(&self, slot: &Slot<P>, output: &mut StepOutput<P>) -> Result<bool, Over> {
        // ORDERING: Relaxed: the RMWs on the state order it. `abort_all` sets the flag, then wakes:
        // a wake before our `start` is acquired by it; after a later one the process runs once
        // more, and comes here again.
        if self.handle.shared().aborting.load(Ordering::Relaxed) {
            // ORDERING: Relaxed: released by the leaving that follows.
            self.handle.shared().aborted.fetch_add(1, Ordering::Relaxed);
            return Err(output.fail(ProcessError::ShutDown));
        }
        let hurries = slot.has(URGENT | ENDS);
        if hurries {
            if slot.has(ENDS) {
                return Err(output.fail(ProcessError::Terminated));
            }
            slot.clear_urgent();
        }
        Ok(hurries)
    }

    /// Fills the inbox from the backlog and the queue, up to the allowance of a step; looks further
    /// if an event that matters was not found. Returns true if there is more in the queue.
    #[inline]
    fn fill(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        events: &mut EventList<P>,
        has_urgent_signal: bool,
    ) -> (Inbox<P>, bool) {
        let mut inbox = Inbox {
            completions: 0,
            pending: None,
        };
        let allowance = body.allowance as usize;
        if body.has_backlog() {
            inbox.recall(body, events, allowance);
        }
        let room = allowance - events.len();
        // SAFETY: as for the body: the worker that has the process is its queue's one consumer.
        let mut more = unsafe {
            slot.events
                .drain_up_to(room, |item| inbox.sort(item, slot, body, events))
        };
        if more && (has_urgent_signal || !body.waits.end_by(inbox.completions, events)) {
            more = self.look_ahead(slot, body, &mut inbox, events, has_urgent_signal);
        }
        (inbox, more)
    }

    /// Looks further for signals among all items, if one is urgent; else for an event that ends a
    /// wait for commands. Returns true if there is more in the queue.
    #[cold]
    #[inline(never)]
    fn look_ahead(
        &self,
        slot: &Slot<P>,
        body: &mut Body<P>,
        inbox: &mut Inbox<P>,
        events: &mut EventList<P>,
        all: bool,
    ) -> bool {
        let max = if all {
            usize::MAX
        } else {
            self.budget.look_ahead()
        };
        // SAFETY: the worker that has the process, which is the caller, is its queue's one
        // consumer.
        let more = unsafe {
            slot.events
                .drain_up_to(max, |item| inbox.stow(item, slot, body))
        };
        inbox.pick(body, events, body.allowance as usize);
        more
    }

    /// Counts the step that begins, and its events.
    #[inline(always)]
    pub(crate) fn count(
        &self,
        slot: &Slot<P>,
        body: &Body<P>,
        events: &EventList<P>,
        completions: u32,
        worker: usize,
    ) {
        if slot.has(LIMITED) {
            count_delivered(&self.handle, slot, events);
        }
        let counters = &self.handle.shared().counters[worker];
        counters.steps.add(1);
        let others = events.len() as u64 - u64::from(completions);
        if others > 0 {
            counters.messages.add(others);
        } else if completions == 0 && slot.stats.commands() > 0 {
            counters.empty_steps.add(1);
            slot.stats.empty_step();
        }
        slot.stats.step(others);
        if body.waits == Waits::Wakes {
            // The step says anew what it waits for.
            slot.stats.set_future(false);
        }
        if completions > 0 {
            counters.completions.add(completions.into());
            slot.stats.answer(completions);
        }
    }

    /// Runs the user's step, and does what it says, except for letting go. Returns the wait of the
    /// process, or its end.
    #[inline(always)]
    pub(crate) fn take_step(
        &self,
        slot: &Slot<P>,
        context: &Context<'_, P>,
        body: &mut Body<P>,
        events: &mut EventList<P>,
        output: &mut StepOutput<P>,
    ) -> Result<Waits, Over> {
        #[cfg(feature = "tracing")]
        let span = {
            let (pid, type_name) = (context.pid(), type_name(&*body.process));
            tracing::debug_span!("step", %pid, r#type = type_name).entered()
        };
        let stepped = catch_panic(|| body.process.step(context, Events::new(events), output));
        #[cfg(feature = "tracing")]
        drop(span);
        match stepped {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(output.fail(ProcessError::Failed(error))),
            Err(mut message) => {
                panicked(context, type_name(&*body.process), None, &mut message);
                return Err(output.fail(ProcessError::Panicked(message)));
            }
        }
        if !events.is_empty() {
            // The step has forgotten its events instead of dropping them. They are not the next
            // process's.
            drop_all_contained(events.drain(..));
        }
        let status = output.take_status();
        if output.has_more {
            self.settle(slot, context, output);
        }
        match status {
            Status::Over => Err(Over),
            Status::Pending => {
                slot.stats.set_future(true);
                Ok(Waits::Wakes)
            }
            Status::PendingForEvents => Ok(Waits::Wakes),
            Status::Wait if slot.stats.commands() == 0 => {
                Err(output.fail(ProcessError::WaitsForNothing))
            }
            Status::Wait => Ok(Waits::Commands),
            Status::Idle => Ok(Waits::Events),
            Status::Continue => Ok(Waits::Turn),
            Status::Upgrade(successor) => take_over(*successor, context, body)
                .map(|()| Waits::Turn)
                .map_err(|error| output.fail(error)),
        }
    }

    /// Counts the commands that a step has opened, and dispatches the others.
    #[inline(never)]
    fn settle(&self, slot: &Slot<P>, context: &Context<'_, P>, output: &mut StepOutput<P>) {
        let opened = output.opened.drain(..).len();
        if opened > 0 {
            slot.stats.ask(opened as u32);
            self.handle.counters().commands.add(opened as u64);
        }
        if !output.commands.is_empty() {
            self.dispatch(slot, context, output);
        }
        output.settled();
    }

    /// Hands the commands of a step to the handler. A function of its own, as most steps have none.
    #[inline(never)]
    fn dispatch(&self, slot: &Slot<P>, context: &Context<'_, P>, output: &mut StepOutput<P>) {
        let handler = self.handler.as_deref();
        for (tag, command) in output.commands.drain(..) {
            slot.stats.ask(1);
            self.handle.counters().commands.add(1);
            let outstanding = OpenCommand::new(context.pin(), tag);
            dispatch(handler, command, &self.handle, outstanding);
        }
    }
}

/// The state of a process that was let go.
pub(crate) enum After {
    /// It waits; another worker may have it already.
    Waits,
    /// It is Ready: an event came while it ran, or it has used up its budget of events, and not yet
    /// its slice.
    Again,
    /// It is Ready: it has more to do, and others come first.
    GaveWay,
}

/// Lets go of a process that has perhaps not caught up with its events. Not part of `let_go`, as
/// most have.
///
/// It does not get the body: a reference as an argument would have to stay exclusive until this
/// returns, and the process is another worker's before that.
#[cold]
#[inline(never)]
fn let_go_backlogged<P: Protocol>(slot: &Slot<P>, waits: Waits, behind: Option<After>) -> After {
    let Some(after) = behind else {
        return let_go(slot, waits);
    };
    let_go(slot, Waits::Turn);
    after
}

/// Lets go of the process. From the RMW on another worker may run it.
fn let_go<P: Protocol>(slot: &Slot<P>, waits: Waits) -> After {
    let let_go = match waits {
        Waits::Turn => slot.state.yield_now(),
        Waits::Commands => slot.state.block(),
        Waits::Events | Waits::Wakes => slot.state.idle(),
    };
    match let_go {
        Ok(LetGo::Waits) => After::Waits,
        Ok(LetGo::Enqueue) if waits == Waits::Turn => After::GaveWay,
        Ok(LetGo::Enqueue) => After::Again,
        Err(error) => {
            unreachable!("only the worker that made it Running lets go of it: {error}")
        }
    }
}
