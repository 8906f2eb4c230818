//! `filch build`: build farms.

pub(crate) mod simulate;

use clap::Subcommand;

/// Commands about a build farm.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulates a build on a farm in virtual time, under four policies.
    ///
    /// The graph comes from a generator: the same options give the same graph and the same figures.
    /// A worker has a cache, and must fetch all other inputs before it runs a job.
    ///
    /// The policies: filch's build scheduler; plain FIFO, where any free worker takes the oldest
    /// job; near first, which is filch's with its option of that name: a worker prefers jobs with
    /// an input that it has, and a job that no worker is near to does not wait; always wait, which
    /// is near first without timeouts.
    ///
    /// With --farm, jobs go through the queue of filch's farm first; FIFO knows no
    /// priorities and no turns. A table has the figures of each invocation and each pool.
    ///
    /// The table has the time of the build (makespan), its ratio to the lower bound, the shares of
    /// inputs and bytes that were where they were needed, the transfers, and the times that jobs
    /// waited from being ready to their start.
    Simulate(simulate::Arguments),
}
