//! A process that only waits, for the test programs that measure what one costs.

#[allow(unused_imports)]
use filch_actors::{AsyncFn, BlockingThreads, Broadcast, CallError, Caller, Calls as _, ConnectError, Deadlines as _, Dump, Dumps as _, Ends as _, EndsOfWaiting as _, ExecuteError, Executes as _, Follows as _, GroupError, Grouped as _, Inbox, JoinHandle, Journals as _, Mailboxes as _, MailboxFull, Named as _, Names as _, Nodes as _, RegisterError, Rings as _, Sending, SendingError, Sends as _, SpawnError, Spawns as _, SpawnsPrepared as _, StepCalls as _, StepSending as _, WhenFull};
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
