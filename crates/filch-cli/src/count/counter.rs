//! The process that counts: tallies the chunks that the readers send.

use filch::scheduler::{Event, Pid, Process, from_fn};

use super::protocol::{JobError, Message, WordCount};
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
