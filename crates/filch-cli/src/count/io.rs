//! The command handler: its threads read blocks of files, because a worker must not block.
//!
//! The worker that runs `handle` only puts the command into a channel. One of a few threads takes
//! it out, reads, and completes it. The threads end when the handler is dropped, which is when the
//! scheduler's last handle is.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use filch::scheduler::{CommandHandler, Completion};

use super::opened::{Block, Limits, ReadError, Reading, bytes_to_read};
use super::protocol::{JobError, ReadFile, WordCount};
use crate::progress::Progress;

/// The scheduler's end: passes commands on.
pub(crate) struct Disk {
    requests: Sender<Request>,
}

/// The threads, for the caller that waits for their end.
pub(crate) struct IoThreads(Vec<JoinHandle<()>>);

struct Request {
    command: ReadFile,
    completion: Completion<WordCount>,
}

/// Starts the threads.
pub(crate) fn start(
    threads: usize,
    limits: Limits,
    progress: &Arc<Progress>,
) -> io::Result<(Disk, IoThreads)> {
    let (requests, queue) = channel();
    let queue = Arc::new(Mutex::new(queue));
    let threads = (0..threads.max(1))
        .map(|number| {
            let (queue, progress) = (Arc::clone(&queue), Arc::clone(progress));
            Builder::new()
                .name(format!("filch-io-{number}"))
                .spawn(move || serve(&queue, limits, &progress))
        })
        .collect::<io::Result<_>>()?;
    Ok((Disk { requests }, IoThreads(threads)))
}

impl CommandHandler<WordCount> for Disk {
    fn handle(&self, command: ReadFile, completion: Completion<WordCount>) {
        // Refused only if all threads have died. Dropping the completion tells the reader.
        let _ = self.requests.send(Request {
            command,
            completion,
        });
    }
}

impl IoThreads {
    /// Waits for the threads' end. The scheduler must be gone.
    pub(crate) fn join(self) {
        for thread in self.0 {
            // A thread that panicked has dropped its completion, and the reader reports that.
            let _ = thread.join();
        }
    }
}

fn serve(queue: &Mutex<Receiver<Request>>, limits: Limits, progress: &Progress) {
    loop {
        // One thread at a time waits, and holds the lock meanwhile; it unlocks before it reads.
        let request = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Request {
            command,
            completion,
        }) = request
        else {
            return;
        };
        match read(command, limits, progress) {
            Ok(block) => completion.complete(block),
            Err(error) => completion.fail(JobError::Read(error)),
        }
    }
}

fn read(command: ReadFile, limits: Limits, progress: &Progress) -> Result<Block, ReadError> {
    let mut reading = Reading::new(limits, progress);
    match command {
        ReadFile::First(entry) => reading.first(&entry).inspect_err(|_| {
            let expected = bytes_to_read(entry.size.unwrap_or(0), limits.block);
            progress.expect_less(expected.saturating_sub(reading.bytes));
        }),
        ReadFile::Next(opened) => reading.next(opened),
    }
}
