//! A worker: runs an action in a clean folder that holds its inputs, and keeps its outputs.
//!
//! An action runs in a sandbox, if the runner has one: see the folder `sandbox`. Without one it has
//! the user, the network and the file system of the worker. Its process group ends with it; a
//! process that leaves the group does not.

mod access;
mod command;
mod error;
mod folder;
mod inputs;
mod keep;
mod names;
mod outputs;
mod process;
pub mod remote;
mod runner;
mod sandbox;

pub use access::Access;
pub(crate) use command::NETWORK;
pub use error::RunError;
pub(crate) use folder::remove;
pub(crate) use names::{check_link, check_name, check_path, ways};
pub use process::keep_from_actions;
pub use runner::{Limits, Runner};
pub use sandbox::{NoSandbox, Sandbox, SandboxOptions, launch};
