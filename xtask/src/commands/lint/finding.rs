//! A rule that was broken, and where.

use std::fmt;
use std::path::PathBuf;

/// A line that `cargo xtask lint` prints.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) file: PathBuf,
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            message,
        } = self;
        write!(formatter, "{}:{line}: {message}", file.display())
    }
}
