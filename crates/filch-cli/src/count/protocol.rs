//! The messages of the processes, their commands to the disk, and their results.

use std::{fmt, io};

use filch::scheduler::{ExitReason, Pid, Protocol};

use super::opened::{Block, Entry, Opened, Skip};
use super::words::Tally;

/// The vocabulary of the job.
pub(crate) enum WordCount {}

impl Protocol for WordCount {
    /// None: each process is made with its data.
    type Input = ();
    type Message = Message;
    type Command = ReadFile;
    type Reply = Block;
    /// The merger's totals. The other processes send theirs as messages and end with nothing; so
    /// does every cancelled process.
    type Output = Option<Totals>;
    type Error = JobError;
}

/// A message between processes.
#[derive(Debug)]
pub(crate) enum Message {
    /// Reader to counter: text to count, cut between words.
    Chunk { text: String, from: Pid },
    /// Counter to reader: one of the reader's chunks is counted.
    Counted,
    /// Reader to every counter: the reader sends no more.
    NoMore,
    /// Counter to merger: all that the counter has counted.
    Tally(Tally),
    /// Reader to merger: all that the reader has read.
    FilesRead(FilesRead),
}

/// A command of a reader to the disk. Its tag tells the reader the file.
pub(crate) enum ReadFile {
    /// Open the source and read its first block. Fails if it is a file that is not text to its end.
    First(Entry),
    /// Read the next block.
    Next(Opened),
}

/// The result of one reader.
#[derive(Debug, Default)]
pub(crate) struct FilesRead {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) skipped: Vec<Skip>,
}

/// The result.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) skipped: Vec<Skip>,
    pub(crate) tally: Tally,
}

/// The error of a command or a process.
#[derive(Debug)]
pub(crate) enum JobError {
    /// A source cannot be read, or not be counted.
    Read(io::Error),
    /// A process that awaits a message from this one has ended.
    Gone(Pid),
    /// A process ended before its work was done.
    Broken(Pid, ExitReason),
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Gone(pid) => write!(f, "process {pid} has ended too early"),
            Self::Broken(pid, reason) => {
                write!(f, "process {pid} ended before its work was done: {reason}")
            }
        }
    }
}
