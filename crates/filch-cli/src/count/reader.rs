//! The process that reads: it yields commands that read blocks of its files, several at a time, and
//! sends their text to the counters. Pipes and standard input are files here, too.
//!
//! Its window bounds the memory that it uses. A read that is yielded takes a place in the window,
//! the chunk that results keeps it, and the place is free again when a counter has counted the
//! chunk.

use std::collections::{HashMap, VecDeque};

use filch::scheduler::{CommandError, Context, Event, Events, InitError, Pid, Process, StepOutput};

use super::opened::{Block, Entry, Opened, Skip, Source};
use super::protocol::{FilesRead, JobError, Message, ReadFile, WordCount};
use super::text::{NotText, Splitter};

/// Reads its share of the files.
pub(crate) struct Reader {
    /// Files that are not open yet.
    files: std::vec::IntoIter<Entry>,
    /// Open files, by tag.
    open: HashMap<u64, OpenFile>,
    /// Open files without a read under way, by tag.
    resting: VecDeque<(u64, Opened)>,
    next_tag: u64,
    counters: Vec<Pid>,
    next_counter: usize,
    /// Reads that were yielded and not completed, plus chunks that are not counted.
    under_way: usize,
    window: usize,
    merger: Pid,
    read: FilesRead,
}

struct OpenFile {
    source: Source,
    splitter: Splitter,
    /// Bytes sent to counters.
    sent: u64,
}

impl Reader {
    /// Makes a reader that begins with the counter of its number, so that readers begin with
    /// different ones.
    pub(crate) fn new(
        files: Vec<Entry>,
        counters: Vec<Pid>,
        number: usize,
        merger: Pid,
        window: usize,
    ) -> Self {
        Self {
            files: files.into_iter(),
            open: HashMap::new(),
            resting: VecDeque::new(),
            next_tag: 0,
            counters,
            next_counter: number,
            under_way: 0,
            window: window.max(1),
            merger,
            read: FilesRead::default(),
        }
    }

    /// Takes the result of a read. An error concerns that file only.
    fn completed(
        &mut self,
        context: &Context<'_, WordCount>,
        tag: u64,
        result: Result<Block, CommandError<WordCount>>,
    ) -> Result<(), JobError> {
        let Some(mut file) = self.open.remove(&tag) else {
            return Ok(());
        };
        let (text, rest) = match result.map(|block| file.take(block)) {
            Ok(Ok(taken)) => taken,
            Ok(Err(not_text)) => {
                self.skip(file, not_text.to_string());
                return Ok(());
            }
            Err(error) => {
                self.skip(file, error.to_string());
                return Ok(());
            }
        };
        file.sent += text.len() as u64;
        if !text.is_empty() {
            self.send_chunk(context, text)?;
        }
        match rest {
            Some(rest) => {
                self.open.insert(tag, file);
                self.resting.push_back((tag, rest));
            }
            None => {
                self.read.files += 1;
                self.read.bytes += file.sent;
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: OpenFile, mut reason: String) {
        if file.sent > 0 {
            // A pipe; or a file that was text to its end when it was opened, and has changed since.
            reason = format!("{reason} (its first {} bytes are counted)", file.sent);
            self.read.bytes += file.sent;
        }
        self.read.skipped.push(Skip {
            source: file.source,
            reason,
        });
    }

    fn send_chunk(
        &mut self,
        context: &Context<'_, WordCount>,
        text: String,
    ) -> Result<(), JobError> {
        let counter = self.counters[self.next_counter % self.counters.len()];
        self.next_counter += 1;
        self.under_way += 1;
        let from = context.pid();
        send(context, counter, Message::Chunk { text, from })
    }

    /// Yields reads until the window is full: open files go first, so that few are open.
    fn fill_window(&mut self, out: &mut StepOutput<WordCount>) {
        while self.under_way < self.window {
            let (tag, command) = if let Some((tag, rest)) = self.resting.pop_front() {
                (tag, ReadFile::Next(rest))
            } else if let Some(entry) = self.files.next() {
                let tag = self.next_tag;
                self.next_tag += 1;
                self.open.insert(tag, OpenFile::new(entry.source.clone()));
                (tag, ReadFile::First(entry))
            } else {
                return;
            };
            self.under_way += 1;
            out.yield_command(tag, command);
        }
    }

    /// Tells the counters and the merger that this reader sends no more.
    fn finish(&mut self, context: &Context<'_, WordCount>) -> Result<(), JobError> {
        for &counter in &self.counters {
            send(context, counter, Message::NoMore)?;
        }
        let read = std::mem::take(&mut self.read);
        send(context, self.merger, Message::FilesRead(read))
    }
}

impl OpenFile {
    fn new(source: Source) -> Self {
        Self {
            source,
            splitter: Splitter::default(),
            sent: 0,
        }
    }

    /// Returns the block's text, up to the last whole word, and the source of the next block.
    fn take(&mut self, block: Block) -> Result<(String, Option<Opened>), NotText> {
        let mut text = self.splitter.push(block.bytes)?;
        if block.rest.is_none() {
            text.push_str(&self.splitter.finish()?);
        }
        Ok((text, block.rest))
    }
}

impl Process<WordCount> for Reader {
    fn init(
        &mut self,
        _: &Context<'_, WordCount>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<WordCount>> {
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
                Event::Completed { tag, result } => {
                    self.under_way -= 1;
                    self.completed(context, tag, result)?;
                }
                Event::Message(Message::Counted) => self.under_way -= 1,
                Event::Cancel(_) => {
                    out.done(None);
                    return Ok(());
                }
                _ => {}
            }
        }
        self.fill_window(out);
        if self.under_way == 0 {
            self.finish(context)?;
            out.done(None);
        } else {
            // Not `wait`: a `Counted` message makes room in the window as a read block does.
            out.idle();
        }
        Ok(())
    }
}

fn send(context: &Context<'_, WordCount>, to: Pid, message: Message) -> Result<(), JobError> {
    context
        .send(to, message)
        .map_err(|refused| JobError::Gone(refused.to))
}
