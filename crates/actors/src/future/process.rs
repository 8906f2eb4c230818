//! The process of a future.

use std::any::type_name;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};

use filch_scheduler::{Context, Events, InitError, Process, Protocol, StepOutput};
use filch_sync::panic::drop_all_contained;

use crate::future::inbox::Mail;
use crate::mailbox::drop_oldest::is_message;

/// A future as a process: it lies in its slot, if it is small, and is polled there. Its output is
/// the process's.
pub(crate) struct FutureProcess<F>(pub(crate) F);

impl<F> FutureProcess<F>
where
    F: Future + Send,
    F::Output: Send + 'static,
{
    /// Polls the future; returns true if it has ended.
    fn poll<P: Protocol>(&mut self, waker: &Waker, out: &mut StepOutput<P>) -> bool {
        // SAFETY: since its first step the process stays where it is, as the scheduler promises of
        // all processes, and is dropped there.
        let future = unsafe { Pin::new_unchecked(&mut self.0) };
        match future.poll(&mut task::Context::from_waker(waker)) {
            Poll::Pending => {
                out.pending();
                false
            }
            Poll::Ready(output) => {
                out.done_with(output);
                true
            }
        }
    }
}

impl<P: Protocol, F> Process<P> for FutureProcess<F>
where
    F: Future + Send,
    F::Output: Send + 'static,
{
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        unreachable!("a future begins without `init`")
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        // None of these means anything to a future: what is watched has ended, the shutdown.
        drop_all_contained(events);
        self.poll(&context.waker(), out);
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        type_name::<F>()
    }
}

/// A future with an [`Inbox`](crate::Inbox), which gets the events of its process.
pub(crate) struct InboxProcess<P: Protocol, F> {
    pub(crate) future: FutureProcess<F>,
    pub(crate) mail: Arc<Mail<P>>,
}

impl<P: Protocol, F> Process<P> for InboxProcess<P, F>
where
    F: Future + Send,
    F::Output: Send + 'static,
{
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        unreachable!("a future begins without `init`")
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        mut events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        if let Some(too_many) = self.mail.put(&mut events) {
            context.handle().count_dropped(too_many.len());
            drop_all_contained(too_many);
        }
        if events.len() > 0 {
            // Nobody reads these any more.
            let events: Vec<_> = events.by_ref().collect();
            let messages = events.iter().filter(|event| is_message(event)).count();
            self.mail.give_room(messages);
            drop_all_contained(events);
        }
        drop(events);
        let waker = context.waker();
        self.mail.lend(&waker);
        if self.future.poll(&waker, out) {
            if let Some(error) = self.mail.take_failure() {
                out.fail_with(error);
            }
        } else if self.mail.is_awaited() {
            out.pending_for_events();
        }
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        type_name::<F>()
    }
}
