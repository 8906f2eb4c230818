//! Open sources, with their positions.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Stdin, Take};
use std::path::Path;

use super::source::{Entry, Source};
use super::text::{Decoder, NotText};

/// The source of the next blocks.
#[derive(Debug)]
pub(crate) enum Opened {
    Input(Stdin),
    /// A pipe, or a file up to the end that was seen.
    File(Take<File>),
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Input(input) => input.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}

/// The bytes of one read.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// The source of the next block; `None` at the end.
    pub(crate) rest: Option<Opened>,
}

/// The reason why a source is not counted.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is no regular file any more.
    NotAFile,
    /// It is not text.
    NotText(NotText),
    /// It has no end, or may get more bytes.
    Endless,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::NotText(error) => error.fmt(f),
            Self::Endless => f.write_str("it seems to have no end"),
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<NotText> for ReadError {
    fn from(error: NotText) -> Self {
        Self::NotText(error)
    }
}

/// The limits of reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes at a time; not zero.
    pub(crate) block: usize,
    /// The bytes by which a file may exceed its stated size. A longer one counts as endless.
    pub(crate) growth: u64,
}

/// Opens a source and reads its first block.
pub(crate) fn first(entry: &Entry, limits: Limits) -> Result<Block, ReadError> {
    let opened = match &entry.source {
        Source::Input => Opened::Input(io::stdin()),
        Source::Named(path) | Source::Found(path) if entry.is_file => {
            return first_of(path, limits);
        }
        Source::Named(path) | Source::Found(path) => Opened::File(File::open(path)?.take(u64::MAX)),
    };
    next(opened, limits)
}

/// Reads the next block.
pub(crate) fn next(mut opened: Opened, limits: Limits) -> Result<Block, ReadError> {
    let bytes = fill(&mut opened, limits)?;
    let rest = (bytes.len() == limits.block).then_some(opened);
    Ok(Block { bytes, rest })
}

/// Reads the first block of a regular file.
///
/// It reads a file of several blocks twice, the first time here, to see that it is text to its end:
/// a skipped file must not be counted in part, and no file is held in memory whole. Bytes appended
/// later are not counted.
fn first_of(path: &Path, limits: Limits) -> Result<Block, ReadError> {
    let mut file = open(path)?;
    let size = file.metadata()?.len();
    let bytes = fill(&mut file, limits)?;
    if bytes.len() < limits.block {
        return Ok(Block { bytes, rest: None });
    }
    let end = check_text(&bytes, &mut file, size, limits)?;
    let begin = bytes.len() as u64;
    file.seek(SeekFrom::Start(begin))?;
    let rest = Some(Opened::File(file.take(end - begin)));
    Ok(Block { bytes, rest })
}

/// Returns the end of the file, if it is text to there. Its stated `size` may be wrong, as that of
/// files in /proc is.
fn check_text(first: &[u8], file: &mut File, size: u64, limits: Limits) -> Result<u64, ReadError> {
    let mut decoder = Decoder::default();
    let mut bytes = first.to_vec();
    let mut end = 0;
    while !bytes.is_empty() {
        end += bytes.len() as u64;
        if end > size.saturating_add(limits.growth) {
            return Err(ReadError::Endless);
        }
        decoder.decode(bytes)?;
        bytes = fill(file, limits)?;
    }
    decoder.finish()?;
    Ok(end)
}

/// Reads a block, or less at the end.
fn fill(from: &mut impl Read, limits: Limits) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    match from.take(limits.block as u64).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        // There is no more now, but more may come: see `open`.
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ReadError::Endless),
        Err(error) => Err(ReadError::Unreadable(error)),
    }
}

/// Opens a regular file.
///
/// On Unix neither this nor reading from the file waits: not for the writer of a pipe that has
/// replaced the file, nor for later lines of /proc/kmsg.
fn open(path: &Path) -> Result<File, ReadError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(ReadError::NotAFile)
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Limits, ReadError, fill, next};
    use crate::count::source::{Entry, Source};
    use crate::count::tests::common::Scratch;
    use std::fs::OpenOptions;
    use std::io::{self, ErrorKind, Read, Write};
    use std::path::Path;

    fn first(path: &Path, limits: Limits) -> Result<Block, ReadError> {
        let entry = Entry {
            source: Source::Found(path.to_owned()),
            is_file: true,
        };
        super::first(&entry, limits)
    }

    const LIMITS: Limits = Limits {
        block: 4,
        growth: 0,
    };

    #[test]
    fn a_file_that_has_vanished_is_an_error_of_that_file() {
        let error = first(Path::new("vanished since the walk"), LIMITS).unwrap_err();
        assert!(matches!(error, ReadError::Unreadable(e) if e.kind() == ErrorKind::NotFound));
    }

    #[test]
    fn what_is_appended_after_the_end_was_seen_is_not_read() {
        let scratch = Scratch::new("appended");
        scratch.write("file", b"one two three");
        let path = scratch.path().join("file");
        let mut block = first(&path, LIMITS).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b" four five").unwrap();
        let mut read = block.bytes;
        while let Some(rest) = block.rest {
            block = next(rest, LIMITS).unwrap();
            read.append(&mut block.bytes);
        }
        assert_eq!(String::from_utf8(read).unwrap(), "one two three");
    }

    #[test]
    fn a_file_that_says_to_wait_for_more_has_no_end() {
        struct Waits;
        impl Read for Waits {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::WouldBlock.into())
            }
        }
        assert_eq!(fill(&mut &b"all"[..], LIMITS).unwrap(), b"all");
        let read = fill(&mut (&b"all"[..]).chain(Waits), LIMITS);
        assert!(matches!(read, Err(ReadError::Endless)));
    }

    #[cfg(unix)]
    #[test]
    fn what_has_taken_the_place_of_a_file_is_not_waited_for() {
        use std::process::Command;
        use std::sync::mpsc::channel;
        use std::thread;
        use std::time::Duration;

        let scratch = Scratch::new("replaced");
        let pipe = scratch.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let folder = scratch.path().to_owned();
        for path in [pipe, folder] {
            let (tell, told) = channel();
            thread::spawn(move || tell.send(first(&path, LIMITS)));
            let opened = told.recv_timeout(Duration::from_secs(60));
            let error = opened.expect("it waits for a writer").unwrap_err();
            assert!(matches!(error, ReadError::NotAFile), "{error:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_may_be_longer_than_it_says_but_not_without_end() {
        let path = Path::new("/proc/self/status");
        let growth = std::fs::read(path).unwrap().len() as u64 * 2;
        let fine = Limits { growth, ..LIMITS };
        assert!(first(path, fine).is_ok());
        let growth = 100;
        let error = first(path, Limits { growth, ..LIMITS }).unwrap_err();
        assert!(matches!(error, ReadError::Endless), "{error:?}");
    }
}
