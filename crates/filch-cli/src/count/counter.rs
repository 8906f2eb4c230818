//! The process that counts: tallies the chunks that the readers send.

use filch::scheduler::{Context, Event, Events, InitError, Pid, Process, StepOutput};

use super::protocol::{JobError, Message, WordCount, expect_method};
use super::words::Tally;

/// Counts words until every reader has reported its end.
pub(crate) struct Counter {
    readers_left: usize,
    merger: Pid,
    tally: Tally,
}

impl Counter {
    pub(crate) fn new(readers: usize, merger: Pid) -> Self {
        Self {
            readers_left: readers,
            merger,
            tally: Tally::default(),
        }
    }
}

impl Process<WordCount> for Counter {
    fn init(
        &mut self,
        context: &Context<'_, WordCount>,
        method: &str,
        (): (),
    ) -> Result<(), InitError<WordCount>> {
        expect_method(method, &["count"])?;
        context.handle().monitor(self.merger, context.pid());
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, WordCount>,
        events: Events<'_, WordCount>,
        out: &mut StepOutput<WordCount>,
    ) -> Result<(), JobError> {
        for event in events {
            match event {
                Event::Message(Message::Chunk { text, from }) => {
                    self.tally.count(&text);
                    // Freed before the reader may read more.
                    drop(text);
                    // Refused if the reader has failed: then it needs no answer.
                    let _ = context.send(from, Message::Counted);
                }
                Event::Message(Message::NoMore) => self.readers_left -= 1,
                Event::Cancel(_) => {
                    out.done(None);
                    return Ok(());
                }
                _ => {}
            }
        }
        if self.readers_left == 0 {
            let tally = Message::Tally(std::mem::take(&mut self.tally));
            context
                .send(self.merger, tally)
                .map_err(|refused| JobError::Gone(refused.to))?;
            out.done(None);
        }
        Ok(())
    }
}
