//! A worker: runs an action in a clean folder that holds its inputs, and keeps its outputs.
//!
//! What is *not* done: an action is not isolated from its machine. It has the user, the network and
//! the file system of the worker; a process that leaves its process group (`setsid`) outlives the
//! action. Run the worker in a container where actions are not to be trusted.

mod access;
mod command;
mod error;
mod folder;
mod inherited;
mod inputs;
mod keep;
mod limits;
mod message;
mod names;
mod outputs;
mod process;
pub mod remote;
mod remove;
mod runner;

pub use access::{Access, AccessError};
pub use error::RunError;
pub use inherited::keep_from_actions;
pub use limits::Limits;
pub use runner::Runner;

pub(crate) use names::{check_link, check_name, check_path};
pub(crate) use remove::remove;
