//! The sources of text: standard input, files and pipes.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

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
