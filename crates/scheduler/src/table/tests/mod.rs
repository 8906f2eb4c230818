//! The table without workers: one thread takes all roles.

mod occupants;
mod watches;

use std::sync::Arc;

use crate::process::inline_box::process_box;
use crate::table::body::{Body, Waits};
use crate::{Context, Events, InitError, Process, Protocol, StepOutput};

/// A process that keeps something, and never runs.
struct Kept(#[expect(dead_code, reason = "it is kept")] Arc<()>);

impl<P: Protocol> Process<P> for Kept {
    fn init(&mut self, _: &Context<'_, P>, _: &str, _: P::Input) -> Result<(), InitError<P>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, P>,
        _: Events<'_, P>,
        _: &mut StepOutput<P>,
    ) -> Result<(), P::Error> {
        Ok(())
    }
}

fn body<P: Protocol>(process: impl Process<P> + 'static) -> Body<P> {
    Body {
        process: process_box(process),
        waits: Waits::Turn,
        allowance: 1,
        sampled: false,
        cold: None,
    }
}
