//! A process that only waits, for the test programs that measure its cost.

use filch_scheduler::{Context, Event, Events, InitError, Process, StepOutput};

use crate::counting::Words;

/// Waits for messages; a cancel ends it.
pub(crate) struct Idler;

impl Process<Words> for Idler {
    fn init(&mut self, _: &Context<'_, Words>, _: &str, (): ()) -> Result<(), InitError<Words>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Words>,
        events: Events<'_, Words>,
        out: &mut StepOutput<Words>,
    ) -> Result<(), String> {
        for event in events {
            if let Event::Cancel(_) = event {
                out.done(0);
            }
        }
        Ok(())
    }
}
