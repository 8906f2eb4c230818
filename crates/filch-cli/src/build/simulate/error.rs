//! The reasons why there is no simulation of a build.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::policy::Kind;

/// The reason why nothing was simulated, or drawn.
#[derive(Debug)]
pub(crate) enum BuildSimulateError {
    /// A layer would be empty.
    Layers { layers: u32, jobs: u32 },
    /// Nothing is transferred, so there is no ratio to set or to sweep.
    NoInputs,
    /// Some jobs wait for ever.
    Stuck { policy: Kind, ended: u32, jobs: u32 },
    /// The folder for the plots cannot be made.
    Folder(PathBuf, io::Error),
    /// A plot cannot be drawn or written.
    Plot(PathBuf, String),
}

impl BuildSimulateError {
    /// Returns whether other arguments would help.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Layers { .. } | Self::NoInputs | Self::Stuck { .. }
        )
    }
}

impl fmt::Display for BuildSimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layers { layers, jobs } => {
                write!(f, "{layers} layers need as many jobs, not {jobs}")
            }
            Self::NoInputs => f.write_str("in a graph of one layer no job has inputs to transfer"),
            Self::Stuck {
                policy,
                ended,
                jobs,
            } => {
                let waiting = jobs - ended;
                write!(
                    f,
                    "with the policy `{policy}`, {waiting} of {jobs} jobs wait for ever: a job \
                     that no worker is near to needs a timeout that ends"
                )
            }
            Self::Folder(path, error) => {
                write!(f, "cannot make the folder {}: {error}", path.display())
            }
            Self::Plot(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl Error for BuildSimulateError {}
