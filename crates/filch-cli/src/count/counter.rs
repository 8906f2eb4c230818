//! The process that counts the chunks that the readers send, and the one that merges all results.

use filch::scheduler::{Event, Pid, Process, from_fn};

use super::protocol::{JobError, Message, Totals, WordCount};
use super::words::Tally;

/// Makes a process that counts words until every reader has reported its end.
pub(crate) fn counter(mut readers_left: usize, merger: Pid) -> impl Process<WordCount> {
    let mut tally = Tally::default();
    from_fn::<WordCount, _>(move |context, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Chunk { text, from }) => {
                    tally.count(&text);
                    // Freed before the reader may read more.
                    drop(text);
                    // Refused if the reader has failed: then it needs no answer.
                    let _ = context.send(from, Message::Counted);
                }
                Event::Message(Message::NoMore) => readers_left -= 1,
                Event::Cancel(_) => {
                    out.done(None);
                    return Ok(());
                }
                _ => {}
            }
        }
        if readers_left == 0 {
            let tally = Message::Tally(std::mem::take(&mut tally));
            let sent = context.send(merger, tally);
            sent.map_err(|refused| JobError::Gone(refused.to))?;
            out.done(None);
        }
        Ok(())
    })
}

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
