//! The end of a turn: letting go of a process that lives on.

use filch_process_state::LetGo;
use filch_slab::Batch;

use crate::table::backlog::EventList;
use crate::table::body::Waits;
use crate::table::slot::Slot;
use crate::turn::budget::Backlogged;
use crate::{Handle, Protocol, StepOutput};

/// What became of a process that was let go.
pub(crate) enum After {
    /// It waits; another worker may have it already.
    Waits,
    /// It is Ready: something came while it ran, or it has used up its budget of events, and not
    /// yet its slice.
    Again,
    /// It is Ready: it has more to do, and others come first.
    GaveWay,
}

/// Lets go of a process that has perhaps not caught up with its events. Apart from `let_go`, as
/// most have.
///
/// It is not given the body: a reference that is an argument would have to stay exclusive until
/// this returns, and the process is another worker's before that.
#[cold]
#[inline(never)]
pub(crate) fn let_go_backlogged<P: Protocol>(
    slot: &Slot<P>,
    waits: Waits,
    backlogged: Backlogged,
) -> After {
    if backlogged == Backlogged::No {
        return let_go(slot, waits);
    }
    match let_go(slot, Waits::Turn) {
        After::GaveWay if backlogged == Backlogged::Continue => After::Again,
        after => after,
    }
}

/// Lets go of the process. From the RMW on it may be running on another worker.
pub(crate) fn let_go<P: Protocol>(slot: &Slot<P>, waits: Waits) -> After {
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

/// What a worker keeps from step to step, so that steps allocate nothing.
pub(crate) struct Scratch<P: Protocol> {
    /// The events of one step: never more than its budget, which bounds the memory too.
    pub(crate) events: EventList<P>,
    /// The event of a step that is given one to see what it costs. The others wait above.
    pub(crate) sample: EventList<P>,
    /// Its commands: memory for no more than some are kept.
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
            sample: EventList::new(),
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
