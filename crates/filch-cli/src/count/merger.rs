//! The process that merges the others' results, and ends with the total.

use filch::scheduler::{Context, Event, Events, InitError, Process, StepOutput};

use super::protocol::{JobError, Message, Totals, WordCount, expect_method};

/// Waits for one report of each reader and each counter.
pub(crate) struct Merger {
    reports_left: usize,
    totals: Totals,
}

impl Merger {
    pub(crate) fn new(reports: usize) -> Self {
        Self {
            reports_left: reports,
            totals: Totals::default(),
        }
    }
}

impl Process<WordCount> for Merger {
    fn init(
        &mut self,
        _: &Context<'_, WordCount>,
        method: &str,
        (): (),
    ) -> Result<(), InitError<WordCount>> {
        expect_method(method, &["merge"])
    }

    fn step(
        &mut self,
        _: &Context<'_, WordCount>,
        events: Events<'_, WordCount>,
        out: &mut StepOutput<WordCount>,
    ) -> Result<(), JobError> {
        for event in events {
            match event {
                Event::Message(Message::Tally(tally)) => {
                    self.totals.tally.merge(tally);
                    self.reports_left -= 1;
                }
                Event::Message(Message::FilesRead(read)) => {
                    self.totals.files += read.files;
                    self.totals.bytes += read.bytes;
                    self.totals.skipped.extend(read.skipped);
                    self.reports_left -= 1;
                }
                Event::Down(down) if !down.reason.is_normal() => {
                    return Err(JobError::Broken(down.pid, down.reason));
                }
                Event::Cancel(_) => {
                    out.done(None);
                    return Ok(());
                }
                _ => {}
            }
        }
        if self.reports_left == 0 {
            out.done(Some(std::mem::take(&mut self.totals)));
        }
        Ok(())
    }
}
