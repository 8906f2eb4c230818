//! The reasons why there is no simulation of a build.

use std::error::Error;
use std::fmt;

use super::policy::Kind;

/// The reason why nothing was simulated. Other arguments would help.
#[derive(Debug)]
pub(crate) enum BuildSimulateError {
    /// A layer would be empty.
    Layers { layers: u32, jobs: u32 },
    /// Nothing is transferred, so there is no ratio to set.
    NoInputs,
    /// Some jobs wait for ever.
    Stuck { policy: Kind, ended: u32, jobs: u32 },
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
        }
    }
}

impl Error for BuildSimulateError {}
