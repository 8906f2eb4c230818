//! The command line of `filch-build`.

use clap::{Parser, Subcommand};
use filch_build::graph::RunArguments;
use filch_build::server::ServeArguments;
use filch_build::worker::remote::WorkerArguments;

/// A build farm for Bazel and its like
#[derive(Debug, Parser)]
#[command(name = "filch-build", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a coordinator: the cache that clients and workers share, and the queue of actions
    Serve(ServeArguments),
    /// Build a graph of jobs here, without a farm
    Run(RunArguments),
    /// Run actions for a coordinator
    Worker(WorkerArguments),
}
