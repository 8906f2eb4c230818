//! The process of a future.

use std::any::type_name;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};

use filch_process_table::InlineBox;
use filch_sync::Arc;
use filch_sync::panic::drop_all_contained;

use crate::future::inbox::{Mail, is_message};
use crate::future::waker::lent_waker;
use crate::{Context, Events, InitError, Process, Protocol, StepOutput};

/// A future as a process: it lies in its slot, if it is small, and is polled there. Its output is
/// the process's.
pub(crate) struct FutureProcess<F>(pub(crate) F);

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
        let slot = context.handle().table().slot(context.pid().slot());
        // SAFETY: the caller has the process, until this returns.
        let waker = unsafe { lent_waker::<P>(slot) };
        // SAFETY: since its first step the process stays where it is, in its slot or in a box of
        // its own, and is dropped there: when it ends, or is upgraded.
        let future = unsafe { Pin::new_unchecked(&mut self.0) };
        match future.poll(&mut task::Context::from_waker(&waker)) {
            Poll::Pending => out.pending(),
            Poll::Ready(output) => out.ready(InlineBox::any(output)),
        }
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
            context.handle().give_room(context.pid(), messages);
            drop_all_contained(events);
        }
        self.future.step(context, events, out)?;
        if out.is_pending() {
            if self.mail.is_awaited() {
                out.pending_for_events();
            }
        } else if let Some(error) = self.mail.take_failure() {
            out.function_failed(error);
        }
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        type_name::<F>()
    }
}
