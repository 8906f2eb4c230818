//! The sources of text, and open ones with their positions.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::text::Decoder;

/// The source of the next blocks: standard input, a pipe, or a file up to the end that was seen.
pub(crate) type Opened = Box<dyn Read + Send>;

/// The bytes of one read.
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// The source of the next block; `None` at the end.
    pub(crate) rest: Option<Opened>,
}

/// Opens a source and reads its first block, of at most that many bytes.
pub(crate) fn first(entry: &Entry, block: usize) -> io::Result<Block> {
    let opened: Opened = match &entry.source {
        Source::Input => Box::new(io::stdin()),
        Source::Named(path) | Source::Found(path) if entry.is_file => {
            return first_of(path, block);
        }
        Source::Named(path) | Source::Found(path) => Box::new(File::open(path)?),
    };
    next(opened, block)
}

/// Reads the next block.
pub(crate) fn next(mut opened: Opened, block: usize) -> io::Result<Block> {
    let bytes = fill(&mut opened, block)?;
    let rest = (bytes.len() == block).then_some(opened);
    Ok(Block { bytes, rest })
}

/// Reads the first block of a regular file.
///
/// It reads a file of several blocks twice, the first time here, to see that it is text to its end,
/// whatever its stated size: a skipped file must not be counted in part, and no file is held in
/// memory whole. Bytes appended later are not counted.
fn first_of(path: &Path, block: usize) -> io::Result<Block> {
    // Before it is opened: that would wait for the writer of a pipe.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = File::open(path)?;
    let bytes = fill(&mut file, block)?;
    if bytes.len() < block {
        return Ok(Block { bytes, rest: None });
    }
    let mut decoder = Decoder::default();
    let mut end = 0;
    let mut ahead = bytes.clone();
    while !ahead.is_empty() {
        end += ahead.len() as u64;
        decoder.decode(ahead)?;
        ahead = fill(&mut file, block)?;
    }
    decoder.finish()?;
    let begin = bytes.len() as u64;
    file.seek(SeekFrom::Start(begin))?;
    let rest: Option<Opened> = Some(Box::new(file.take(end - begin)));
    Ok(Block { bytes, rest })
}

/// Reads a block, or less at the end.
fn fill(from: &mut impl Read, block: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(block as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A source of text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Standard input.
    Input,
    /// A path that the user has named.
    Named(PathBuf),
    /// A file in a folder that the user has named.
    Found(PathBuf),
}

impl Source {
    /// Returns whether the user has named it: if it cannot be counted, that is an error.
    pub(crate) fn is_named(&self) -> bool {
        !matches!(self, Self::Found(_))
    }

    /// Returns its name on the command line.
    pub(crate) fn argument(&self) -> Cow<'_, str> {
        match self {
            Self::Input => "-".into(),
            Self::Named(path) | Self::Found(path) => path.to_string_lossy(),
        }
    }
}

impl From<OsString> for Source {
    /// Converts an argument; `-` is standard input.
    fn from(argument: OsString) -> Self {
        if argument == "-" {
            Self::Input
        } else {
            Self::Named(argument.into())
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input => f.write_str("standard input"),
            Self::Named(path) | Self::Found(path) => path.display().fmt(f),
        }
    }
}

/// A source to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) source: Source,
    /// Set for a regular file. All else is read as it comes.
    pub(crate) is_file: bool,
}

/// A source that is not counted, or only in part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Skip {
    pub(crate) source: Source,
    pub(crate) reason: String,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, reason } = self;
        if source.is_named() {
            write!(f, "filch: cannot count {source}: {reason}")
        } else {
            write!(f, "skipped {source}: {reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{self, ErrorKind, Write};
    use std::path::Path;

    use super::{Block, next};
    use super::{Entry, Source};
    use crate::count::tests::common::Scratch;

    fn first(path: &Path) -> io::Result<Block> {
        let entry = Entry {
            source: Source::Found(path.to_owned()),
            is_file: true,
        };
        super::first(&entry, 4)
    }

    #[test]
    fn a_file_that_has_vanished_is_an_error_of_that_file() {
        let error = first(Path::new("vanished since the walk")).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn what_has_taken_the_place_of_a_file_is_an_error() {
        let scratch = Scratch::new("replaced");
        let error = first(scratch.path()).err().unwrap();
        assert_eq!(error.to_string(), "not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_has_taken_the_place_of_a_file_is_not_waited_for() {
        use std::process::Command;
        use std::sync::mpsc::channel;
        use std::thread;
        use std::time::Duration;

        let scratch = Scratch::new("replaced-by-pipe");
        let pipe = scratch.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let (tell, told) = channel();
        let tells = move || tell.send(first(&pipe).err().map(|error| error.to_string()));
        thread::spawn(tells);
        let error = told.recv_timeout(Duration::from_secs(60));
        let error = error.expect("it waits for a writer");
        assert_eq!(error.as_deref(), Some("not a regular file"));
    }

    #[test]
    fn what_is_appended_after_the_end_was_seen_is_not_read() {
        let scratch = Scratch::new("appended");
        scratch.write("file", b"one two three");
        let path = scratch.path().join("file");
        let mut block = first(&path).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b" four five").unwrap();
        let mut read = block.bytes;
        while let Some(rest) = block.rest {
            block = next(rest, 4).unwrap();
            read.append(&mut block.bytes);
        }
        assert_eq!(String::from_utf8(read).unwrap(), "one two three");
    }
}
