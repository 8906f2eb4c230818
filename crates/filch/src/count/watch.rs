//! How the merger learns that another process failed.
//!
//! A process that panics or returns an error is closed by the scheduler, and nobody who waits for its messages would
//! know. So readers and counters keep a watch, and their `close` has it send a last word unless the work was done.

use filch::scheduler::{Context, Handle, Pid};

use super::protocol::{Message, WordCount};

/// Tells the merger if its process ends before [`done`](Self::done).
pub(crate) struct Watch {
    who: &'static str,
    merger: Pid,
    /// Held from the start of the work to its end.
    scheduler: Option<Handle<WordCount>>,
}

impl Watch {
    pub(crate) fn new(who: &'static str, merger: Pid) -> Self {
        Self {
            who,
            merger,
            scheduler: None,
        }
    }

    pub(crate) fn begin(&mut self, context: &Context<'_, WordCount>) {
        self.scheduler = Some(context.handle().clone());
    }

    pub(crate) fn done(&mut self) {
        self.scheduler = None;
    }

    pub(crate) fn close(&mut self) {
        if let Some(scheduler) = self.scheduler.take() {
            // Refused if the merger has ended: then nobody needs to know.
            let _ = scheduler.send(self.merger, Message::Broken(self.who));
        }
    }
}
