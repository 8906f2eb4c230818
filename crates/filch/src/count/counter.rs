//! The process that counts: tallies the chunks that the readers send it.

use filch::scheduler::{Context, Event, Events, ExitReason, InitError, Pid, Process, StepOutput};

use super::protocol::{JobError, Message, WordCount, expect_method};
use super::watch::Watch;
use super::words::Tally;

/// Counts words until every reader has said that there are no more.
pub(crate) struct Counter {
    readers_left: usize,
    merger: Pid,
    tally: Tally,
    watch: Watch,
}

impl Counter {
    pub(crate) fn new(readers: usize, merger: Pid) -> Self {
        Self {
            readers_left: readers,
            merger,
            tally: Tally::default(),
            watch: Watch::new("counter", merger),
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
        self.watch.begin(context);
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
                    // The text goes before the reader may read more.
                    drop(text);
                    // Refused if the reader has failed: then it waits for nothing.
                    let _ = context.send(from, Message::Counted);
                }
                Event::Message(Message::NoMore) => self.readers_left -= 1,
                Event::Message(_) | Event::Completed { .. } => {}
                Event::Cancel => {
                    self.watch.done();
                    out.done(None);
                    return Ok(());
                }
            }
        }
        if self.readers_left == 0 {
            let tally = Message::Tally(std::mem::take(&mut self.tally));
            context
                .send(self.merger, tally)
                .map_err(|refused| JobError::Gone(refused.to))?;
            self.watch.done();
            out.done(None);
        }
        Ok(())
    }

    fn close(&mut self, _: &ExitReason) {
        self.watch.close();
    }
}
