//! A process from a closure, and from a box.

use std::fmt;

use crate::{Context, Events, ExitReason, InitError, Process, Protocol, StepOutput};

/// A process whose steps are calls of `step`, with nothing to prepare: it has any entry point, and
/// ignores its input.
///
/// ```
/// # enum Sums {}
/// # impl filch_scheduler::Protocol for Sums {
/// #     type Input = (); type Message = u64; type Command = (); type Reply = ();
/// #     type Output = u64; type Error = String;
/// # }
/// # use filch_scheduler::{Event, Scheduler, from_fn};
/// # let scheduler = Scheduler::<Sums>::builder().workers(1).build()?;
/// let mut sum = 0;
/// let adder = from_fn(move |_context, events, out| {
///     for event in events {
///         match event {
///             Event::Message(number) => sum += number,
///             _ => out.done(sum),
///         }
///     }
///     Ok(())
/// });
/// let adder = scheduler.submit(adder, "run", ())?;
/// scheduler.send(adder.pid(), 40)?;
/// scheduler.send(adder.pid(), 2)?;
/// scheduler.cancel(adder.pid(), "that is all")?;
/// assert_eq!(adder.join()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_fn<P, F>(step: F) -> FromFn<F>
where
    P: Protocol,
    F: FnMut(&Context<'_, P>, Events<'_, P>, &mut StepOutput<P>) -> Result<(), P::Error>,
{
    FromFn(step)
}

/// A process from a closure: see [`from_fn`].
pub struct FromFn<F>(F);

impl<P, F> Process<P> for FromFn<F>
where
    P: Protocol,
    F: FnMut(&Context<'_, P>, Events<'_, P>, &mut StepOutput<P>) -> Result<(), P::Error> + Send,
{
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        (self.0)(context, events, out)
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<F>()
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

/// For a process whose type was chosen at run time. It costs a step one call through a pointer;
/// [`submit_boxed`](crate::Handle::submit_boxed) does without.
impl<P: Protocol, T: Process<P> + ?Sized> Process<P> for Box<T> {
    fn init(
        &mut self,
        context: &Context<'_, P>,
        method: &str,
        input: P::Input,
    ) -> Result<(), InitError<P>> {
        (**self).init(context, method, input)
    }

    fn step(
        &mut self,
        context: &Context<'_, P>,
        events: Events<'_, P>,
        out: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        (**self).step(context, events, out)
    }

    fn close(&mut self, reason: &ExitReason) {
        (**self).close(reason);
    }

    fn type_name(&self) -> &'static str {
        (**self).type_name()
    }
}
