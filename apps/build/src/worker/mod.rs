//! A worker: runs an action in a clean folder that holds its inputs, and keeps its outputs.
//!
//! An action's processes end with it: its process group is killed, and on Linux also processes that
//! left the group, if the program has called [`adopt_orphans`]; see the file `orphans`.
//!
//! An action is *not* isolated from its machine: it has the user, the network and the file system
//! of the worker. If actions are not to be trusted, run the worker in a container.

mod access;
mod command;
mod error;
mod folder;
mod inputs;
mod keep;
mod names;
mod orphans;
mod outputs;
mod process;
pub mod remote;
mod runner;

pub use access::Access;
pub use error::RunError;
pub(crate) use folder::remove;
pub(crate) use names::{check_link, check_name, check_path, ways};
pub use orphans::{adopt_orphans, keep_from_actions};
pub use runner::{Limits, Runner};
