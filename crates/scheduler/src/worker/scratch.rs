//! What a worker keeps from step to step.

use std::mem::ManuallyDrop;

use filch_slab::Batch;

use crate::api::owned::Owned;
use crate::table::backlog::EventList;
use crate::{Handle, Protocol, StepOutput};

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
    /// Not counted: the driver has one.
    scheduler: ManuallyDrop<Handle<P>>,
}

impl<P: Protocol> Scratch<P> {
    /// # Safety
    /// The driver of that scheduler outlives it.
    pub(crate) unsafe fn new(scheduler: &Handle<P>) -> Self {
        // SAFETY: an owner's pointer, and the driver keeps the value (contract).
        let shared = unsafe { Owned::lent(scheduler.shared.as_ptr()) };
        Self {
            events: EventList::new(),
            sample: EventList::new(),
            output: StepOutput::new(),
            vacant: Batch::default(),
            worker: 0,
            scheduler: ManuallyDrop::new(Handle { shared }),
        }
    }
}

impl<P: Protocol> Drop for Scratch<P> {
    fn drop(&mut self) {
        self.scheduler.table().give_back(&mut self.vacant);
    }
}
