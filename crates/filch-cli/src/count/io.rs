//! The command handler: its threads read blocks of files, because a worker must not block.
//!
//! The worker that runs `handle` only puts the command into a channel. One of a few threads takes
//! it out, reads, and completes it. The threads end when the handler is dropped, which is when the
//! scheduler's last handle is.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use filch::scheduler::{CommandHandler, Completion};

use super::progress::Progress;
use super::protocol::{Block, JobError, ReadFile, WordCount};
use super::text::Decoder;

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
    block: usize,
    progress: &Arc<Progress>,
) -> io::Result<(Disk, IoThreads)> {
    let block = block.max(1);
    let (requests, queue) = channel();
    let queue = Arc::new(Mutex::new(queue));
    let threads = (0..threads.max(1))
        .map(|number| {
            let (queue, progress) = (Arc::clone(&queue), Arc::clone(progress));
            Builder::new()
                .name(format!("filch-io-{number}"))
                .spawn(move || serve(&queue, block, &progress))
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

fn serve(queue: &Mutex<Receiver<Request>>, block: usize, progress: &Progress) {
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
        let result = read(command, block);
        progress.add(&result);
        match result {
            Ok(block) => completion.complete(block),
            Err(error) => completion.fail(error),
        }
    }
}

fn read(command: ReadFile, block: usize) -> Result<Block, JobError> {
    match command {
        ReadFile::First(path) => first_block(&path, block),
        ReadFile::Next(file) => next_block(file, block).map_err(JobError::Unreadable),
    }
}

/// Opens a file and reads its first block.
///
/// A file of several blocks is read twice, the first time here, to see that it is text to its end:
/// a file that is skipped must not be counted in part, and no file is held in memory whole.
fn first_block(path: &Path, block: usize) -> Result<Block, JobError> {
    // Before it is opened: opening a pipe waits for a writer. (A pipe that replaces the file in
    // between still does.)
    if !fs::metadata(path).map_err(JobError::Unreadable)?.is_file() {
        return Err(JobError::NotAFile);
    }
    let file = File::open(path).map_err(JobError::Unreadable)?;
    let mut first = next_block(file, block).map_err(JobError::Unreadable)?;
    if let Some(mut rest) = first.rest.take() {
        check_text(&first.bytes, &mut rest, block)?;
        rest.seek(SeekFrom::Start(first.bytes.len() as u64))
            .map_err(JobError::Unreadable)?;
        first.rest = Some(rest);
    }
    Ok(first)
}

fn next_block(mut file: File, block: usize) -> io::Result<Block> {
    let bytes = fill(&mut file, block)?;
    let rest = (bytes.len() == block).then_some(file);
    Ok(Block { bytes, rest })
}

/// Reads `block` bytes, or fewer at the end of the file.
fn fill(file: &mut File, block: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(block as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_text(first: &[u8], rest: &mut File, block: usize) -> Result<(), JobError> {
    let mut decoder = Decoder::default();
    let mut bytes = first.to_vec();
    while !bytes.is_empty() {
        decoder.decode(bytes).map_err(JobError::NotText)?;
        bytes = fill(rest, block).map_err(JobError::Unreadable)?;
    }
    decoder.finish().map_err(JobError::NotText)
}

#[cfg(test)]
mod tests {
    use super::first_block;
    use crate::count::protocol::JobError;
    use std::io::ErrorKind;
    use std::path::Path;

    #[test]
    fn a_file_that_has_vanished_is_an_error_of_that_file() {
        let error = first_block(Path::new("vanished since the walk"), 16).unwrap_err();
        assert!(matches!(error, JobError::Unreadable(e) if e.kind() == ErrorKind::NotFound));
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_an_error_of_that_file() {
        let error = first_block(Path::new(env!("CARGO_MANIFEST_DIR")), 16).unwrap_err();
        assert!(matches!(error, JobError::NotAFile));
    }
}
