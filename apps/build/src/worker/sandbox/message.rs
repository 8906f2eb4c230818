//! The messages between a worker, a launcher and its init. The length of each goes before it.

use std::io;

use prost::Message;

use crate::worker::command::Command;

/// The sandbox that a launcher and its init make.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Setup {
    /// The action's folder.
    #[prost(bytes = "vec", tag = "1")]
    pub(super) folder: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(super) visible: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(super) hidden: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(super) cgroup: Option<Vec<u8>>,
    /// True if the action has another user.
    #[prost(bool, tag = "5")]
    pub(super) gives: bool,
    #[prost(bool, tag = "6")]
    pub(super) has_network: bool,
    #[prost(uint64, tag = "7")]
    pub(super) memory: u64,
    /// The most bytes that a process allocates, if there is no control group.
    #[prost(uint64, optional, tag = "8")]
    pub(super) data: Option<u64>,
    #[prost(uint64, tag = "9")]
    pub(super) processes: u64,
    #[prost(uint64, tag = "10")]
    pub(super) file_size: u64,
    #[prost(uint64, tag = "11")]
    pub(super) open_files: u64,
}

/// The program that is run in a sandbox.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Order {
    /// Without any, nothing is run.
    #[prost(string, repeated, tag = "1")]
    pub(super) arguments: Vec<String>,
    /// As `NAME=VALUE`.
    #[prost(string, repeated, tag = "2")]
    pub(super) environment: Vec<String>,
    /// Relative to the action's folder.
    #[prost(string, tag = "3")]
    pub(super) directory: String,
}

impl Order {
    pub(super) fn new(command: &Command) -> Self {
        let variables = command.environment.iter();
        Self {
            arguments: command.arguments.clone(),
            environment: variables
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            directory: command.directory.clone(),
        }
    }
}

/// The report of a launcher or an init.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Report {
    /// The exit code of the action, if it was run.
    #[prost(int32, optional, tag = "1")]
    pub(super) exit_code: Option<i32>,
    /// The failed step, if it was not; none if that is the start of the program.
    #[prost(string, optional, tag = "2")]
    pub(super) step: Option<String>,
    #[prost(string, tag = "3")]
    pub(super) error: String,
}

impl Report {
    pub(super) fn ended(code: i32) -> Self {
        Self {
            exit_code: Some(code),
            ..Self::default()
        }
    }

    pub(super) fn at<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Self {
        let step = Some(step.into());
        move |error| Self {
            step,
            ..Self::not_started(error.into())
        }
    }

    pub(super) fn not_started(error: io::Error) -> Self {
        Self {
            error: error.to_string(),
            ..Self::default()
        }
    }
}

/// Puts its length before a message.
pub(super) fn frame(message: &impl Message) -> Vec<u8> {
    let bytes = message.encode_to_vec();
    [&bytes.len().to_ne_bytes()[..], &bytes].concat()
}
