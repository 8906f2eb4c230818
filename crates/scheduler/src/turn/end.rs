//! The end of a process: in one order, even if the user's code panics on the way.

use filch_slab::Batch;
use filch_sync::panic::{catch_panic, drop_all_contained, drop_contained};

use crate::handle::life_cycle::panicked;
use crate::table::body::{ColdState, EventList};
use crate::table::slot::{LIMITED, Slot};
use crate::{Context, ExitReason, Handle, Pid, ProcessError, Protocol, StepOutput};

/// Ends the process that the calling worker has. Not inlined into `run`, which has little to do for
/// a message, and so needs few registers.
#[inline(never)]
pub(crate) fn end<P: Protocol>(handle: &Handle<P>, slot: &Slot<P>, scratch: &mut Scratch<P>) {
    slot.events.close();
    // SAFETY: the state is still Running, and this worker made it so.
    let Some(body) = (unsafe { slot.life.body() }) else {
        unreachable!("a process ends once");
    };
    let output = &mut scratch.output;
    let mut reason = ExitReason::Done;
    if let Err(error) = output.exit() {
        reason = error.reason();
    }
    // All of this is user code, and each part of it may panic: one by one, so that no panic keeps
    // the rest.
    let closing = catch_panic(|| body.process.close(&reason));
    let cold = body.cold.take();
    // SAFETY: as above; the reference to the body is not used any more.
    let dropping = unsafe { slot.life.discard() };
    if !scratch.events.is_empty() {
        drop_all_contained(scratch.events.drain(..));
    }
    // SAFETY: this worker has the process, which keeps its pin until it is told of.
    let context = unsafe { Context::new(handle, slot) };
    if let (Err(mut message), _) | (_, Err(mut message)) = (closing, dropping)
        && output.exit().is_ok()
    {
        panicked(&context, "its end", None, &mut message);
        reason = ExitReason::Panicked(message.as_str().into());
        output.fail(ProcessError::Panicked(message));
    }
    handle.counters().ended.add(1);
    if output.exit().is_err() {
        output.forget_commands();
        // Asked for anew: behind user code, the worker may be another one.
        handle.counters().failed.add(1);
    }
    let pid = context.pid();
    if slot.has(LIMITED) {
        handle.close_mailbox(slot);
    }
    // Before anyone is told: they find room for another one.
    handle.leave();
    let tell = |item| handle.tell_end(item, pid, &reason);
    // SAFETY: the state is Running, this worker made it so, and it ends the process only here.
    unsafe { handle.table().complete(slot, tell) };
    if let Some(mut cold) = cold {
        empty(handle, &mut cold, pid, &reason);
    }
    if let Some(hooks) = &handle.shared().hooks {
        let _ = catch_panic(|| hooks.on_complete(&context, &reason, output.exit()));
    }
    if let Some(observer) = &handle.shared().observer {
        observer.end(pid, &reason);
    }
    let (table, batch) = (handle.table(), &mut scratch.vacant);
    // SAFETY: ended above.
    unsafe { table.tell_into(slot, batch, || output.take_exit()) };
}

/// Drops the events that no step was given, and fires the watches.
#[cold]
#[inline(never)]
fn empty<P: Protocol>(handle: &Handle<P>, cold: &mut ColdState<P>, pid: Pid, reason: &ExitReason) {
    while let Some(event) = cold.backlog.pop() {
        drop_contained(event);
    }
    for watch in cold.watches.as_slice() {
        handle.fire(watch, pid, reason);
    }
}

/// Memory that a worker keeps from step to step, so that steps allocate nothing.
pub(crate) struct Scratch<P: Protocol> {
    /// The events of one step: never more than its budget, which bounds the memory, too.
    pub(crate) events: EventList<P>,
    /// Its output; memory for a limited number of commands is kept.
    pub(crate) output: StepOutput<P>,
    /// The slots of processes that it has ended.
    pub(crate) vacant: Batch,
    /// The worker that the process to be run begins on. After user code, see [`Handle::worker`].
    pub(crate) worker: usize,
    scheduler: Handle<P>,
}

impl<P: Protocol> Scratch<P> {
    pub(crate) fn new(scheduler: Handle<P>) -> Self {
        Self {
            events: EventList::new(),
            output: StepOutput::new(),
            vacant: Batch::default(),
            worker: 0,
            scheduler,
        }
    }
}

impl<P: Protocol> Drop for Scratch<P> {
    fn drop(&mut self) {
        self.scheduler.table().give_back(&mut self.vacant);
    }
}
