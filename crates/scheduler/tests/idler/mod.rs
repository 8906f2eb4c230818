//! A process that only waits, for the test programs that measure its cost.

use filch_scheduler::{Event, Events, Process, from_fn};

use crate::counting::Words;

/// Makes a process that waits for messages; a cancel ends it.
pub(crate) fn idler() -> impl Process<Words> + 'static {
    from_fn(|_, events: Events<'_, Words>, out| {
        for event in events {
            if let Event::Cancel(_) = event {
                out.done(0);
            }
        }
        Ok(())
    })
}
