//! A process that is about to be submitted, and its options.

use filch_process_table::{Mailbox, Placement};
use filch_processors::BoundId;

use crate::table::body::{ProcessBox, process_box};
use crate::{Handle, Process, Protocol};

/// A process that is about to be submitted, and how it is to be treated; from
/// [`Handle::submission`].
///
/// The example `log_server` of this crate has a process with a bounded mailbox.
#[must_use = "the process is not submitted before `submit` is called"]
pub struct Submission<'a, P: Protocol> {
    pub(crate) handle: &'a Handle<P>,
    pub(crate) process: ProcessBox<P>,
    pub(crate) method: &'a str,
    pub(crate) input: P::Input,
    pub(crate) options: Options,
}

/// How a process is treated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) placement: Placement,
    pub(crate) trap_exits: bool,
}

impl<P: Protocol> Submission<'_, P> {
    /// How many messages it may have been sent that no step has been given yet: one more is refused
    /// with [`Undelivered::Full`](crate::Undelivered::Full), exactly. Other events are always
    /// accepted. Default: no limit. It costs senders a pin and a contended RMW more.
    pub fn mailbox(mut self, messages: usize) -> Self {
        self.options.placement.mailbox = Mailbox::Limited(messages);
        self
    }

    /// It runs only when there is nothing else to do: whenever it becomes runnable, it comes after
    /// every process that is runnable and not of its kind. Under lasting load it may never run.
    pub fn idle_priority(mut self) -> Self {
        self.options.placement.idle_priority = true;
        self
    }

    /// The end of a process that it is [linked](Handle::link) to is an
    /// [`Event::Exited`](crate::Event::Exited) for it, be it a normal end or not, and does not end
    /// it.
    pub fn trap_exits(mut self) -> Self {
        self.options.trap_exits = true;
        self
    }

    /// It runs on that thread alone.
    pub(crate) fn bound_to(mut self, thread: BoundId) -> Self {
        self.options.placement.bound_to = thread.to_bits();
        self
    }
}

impl<P: Protocol> Handle<P> {
    /// Prepares to submit a process with options:
    /// `handle.submission(process, "run", input).trap_exits().submit()`.
    pub fn submission<'a>(
        &'a self,
        process: impl Process<P> + 'static,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(process_box(process), method, input)
    }

    /// As [`submission`](Self::submission), for a process whose type was chosen at run time, or
    /// that was handed back.
    pub fn submission_boxed<'a>(
        &'a self,
        process: Box<dyn Process<P>>,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(ProcessBox::boxed(process), method, input)
    }

    fn prepare<'a>(
        &'a self,
        process: ProcessBox<P>,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        Submission {
            handle: self,
            process,
            method,
            input,
            options: Options::default(),
        }
    }
}

crate::protocol::debug_fields!(Submission<'_, P>, "Submission", method, options);
