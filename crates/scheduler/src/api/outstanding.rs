//! A command or call that is to be completed, and what becomes of it when a handler panics.

use std::any::Any;
use std::cell::RefCell;

use filch_sync::panic::catch_panic;

use crate::api::pinned::Pinned;
use crate::table::item::Item;
use crate::{CommandError, Event, Pid, Protocol};

/// A command of a process that is under way: the right, and the duty, to complete it, once, from any
/// thread. Dropping it completes it with [`CommandError::Abandoned`].
///
/// The handler gets one in a [`Completion`](crate::Completion). A step
/// [opens](crate::StepOutput::open_command) one for what it has done without the handler.
///
/// Its fields are whole words. It is moved right after it is made, and reading a word that was
/// written in pieces waits until they have left the store buffer.
pub struct OpenCommand<P: Protocol> {
    /// Until it is answered: so long the PID cannot come to mean another process.
    process: Option<Pinned<P>>,
    tag: u64,
    /// Its number in the journal, if there is one.
    number: u64,
}

impl<P: Protocol> OpenCommand<P> {
    /// What the process has yielded with that tag.
    #[inline]
    pub(crate) fn new(process: Pinned<P>, tag: u64) -> Self {
        let scheduler = process.scheduler();
        let journal = scheduler.shared.journal.as_ref();
        let number = journal.map_or(0, |journal| journal.begin_command(process.pid(), tag));
        Self {
            process: Some(process),
            tag,
            number,
        }
    }

    fn process(&self) -> &Pinned<P> {
        match &self.process {
            Some(process) => process,
            None => unreachable!("an answer uses it up"),
        }
    }

    /// Tells reports that what is done is a call of the process `to`.
    pub fn note_call(&self, to: Pid, is_limited: bool) {
        if let Some(journal) = &self.process().scheduler().shared.journal {
            journal.note_call(self.pid(), self.number, to, is_limited);
        }
    }

    /// The process that has yielded it.
    pub fn pid(&self) -> Pid {
        self.process().pid()
    }

    /// The tag that it was given.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Whether the process still lives.
    pub fn is_wanted(&self) -> bool {
        !self.process().slot().events.is_closed()
    }

    /// Completes it with what `work` returns, or panics with.
    #[inline]
    pub fn answer_by(mut self, work: impl FnOnce() -> Result<P::Reply, P::Error>) {
        // Delivered in there, a reply goes by registers.
        let answered = catch_panic(|| match work() {
            Ok(reply) => self.deliver(Ok(reply)),
            Err(error) => self.fail(CommandError::Failed(error)),
        });
        if let Err(message) = answered {
            self.fail(CommandError::Panicked(message.into()));
        }
    }

    /// Completes it: the process's next step gets the result. Lock-free.
    pub fn answer(mut self, result: Result<P::Reply, CommandError<P>>) {
        self.deliver(result);
    }

    #[cold]
    fn fail(&mut self, error: CommandError<P>) {
        self.deliver(Err(error));
    }

    #[inline(always)]
    fn deliver(&mut self, result: Result<P::Reply, CommandError<P>>) {
        let tag = self.tag;
        let completed = Item::Event(Event::Completed { tag, result });
        let Some(process) = self.process.take() else {
            return;
        };
        let scheduler = process.scheduler();
        // Before the process can end.
        if let Some(journal) = &scheduler.shared.journal {
            journal.end_command(process.pid(), self.number);
        }
        scheduler.deliver_completion(process.slot(), completed);
    }

    #[cold]
    fn abandon(&mut self) {
        if !std::thread::panicking() || !dispatching() {
            return self.fail(CommandError::Abandoned);
        }
        // The handler is unwinding. `answer_panics` will know the message that belongs in the
        // answer.
        let unanswered = Self {
            process: self.process.take(),
            ..*self
        };
        UNWOUND.with(|unwound| {
            let mut unwound = unwound.borrow_mut();
            unwound.get_or_insert_default().push(Box::new(unanswered));
        });
    }
}

impl<P: Protocol> Drop for OpenCommand<P> {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.abandon();
        }
    }
}

thread_local! {
    /// While this thread calls a handler: what a panic of that one dropped.
    static UNWOUND: RefCell<Option<Vec<Box<dyn Any>>>> = RefCell::new(None)
}

fn dispatching() -> bool {
    UNWOUND.with(|unwound| unwound.borrow().is_some())
}

/// Calls a handler, and answers for it if it panics.
pub(crate) fn answer_panics<P: Protocol>(handle: impl FnOnce()) {
    UNWOUND.with(|unwound| unwound.replace(Some(Vec::new())));
    let outcome = catch_panic(handle);
    let unwound = UNWOUND.with(RefCell::take).unwrap_or_default();
    if let Err(message) = outcome {
        for unanswered in unwound {
            match unanswered.downcast::<OpenCommand<P>>() {
                Ok(unanswered) => {
                    unanswered.answer(Err(CommandError::Panicked(message.as_str().into())));
                }
                // Another scheduler's: its drop calls it abandoned, now that nothing unwinds.
                Err(foreign) => drop(foreign),
            }
        }
    }
}

crate::protocol::debug_fields!(OpenCommand<P>, "OpenCommand", tag);
