//! What a worker keeps from step to step.

use crate::table::backlog::EventList;
use crate::{Protocol, StepOutput};

/// What a worker keeps from step to step, so that steps allocate nothing.
pub(crate) struct Scratch<P: Protocol> {
    /// The events of one step: never more than its budget, which bounds the memory too.
    pub(crate) events: EventList<P>,
    /// The event of a step that is given one to see what it costs. The others wait above.
    pub(crate) sample: EventList<P>,
    /// Its commands: memory for no more than some are kept.
    pub(crate) output: StepOutput<P>,
    /// The worker that the process to be run begins on. After user code, see [`Handle::worker`].
    pub(crate) worker: usize,
}

impl<P: Protocol> Scratch<P> {
    pub(crate) fn new() -> Self {
        Self {
            events: EventList::new(),
            sample: EventList::new(),
            output: StepOutput::new(),
            worker: 0,
        }
    }
}
