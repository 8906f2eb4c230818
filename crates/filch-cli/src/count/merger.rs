//! The process that merges the others' results, and ends with the total.

use filch::scheduler::{Event, Process, from_fn};

use super::protocol::{JobError, Message, Totals, WordCount};

/// Makes a process that waits for one report of each reader and each counter.
pub(crate) fn merger(mut reports_left: usize) -> impl Process<WordCount> {
    let mut totals = Totals::default();
    from_fn::<WordCount, _>(move |_, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Tally(tally)) => {
                    totals.tally.merge(tally);
                    reports_left -= 1;
                }
                Event::Message(Message::FilesRead(read)) => {
                    totals.files += read.files;
                    totals.bytes += read.bytes;
                    totals.skipped.extend(read.skipped);
                    reports_left -= 1;
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
        if reports_left == 0 {
            out.done(Some(std::mem::take(&mut totals)));
        }
        Ok(())
    })
}
