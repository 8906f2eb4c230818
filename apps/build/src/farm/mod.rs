//! The coordinator: it gives actions to workers, and their results to clients.
//!
//! [`Farm`] wraps a [`Scheduler`](filch_build_scheduler::Scheduler), whose jobs are actions and
//! whose artifacts are blobs. Clients use [`ExecutionService`]; workers call the farm itself.
//!
//! ```text
//! Execute ──► Farm::execute ──► Scheduler ──► session ──► worker
//!    ▲                              ▲            │
//!    └─── the result, or why none ──┴────────────┘
//! ```

mod action;
mod builds;
mod coordinator;
mod execution;
mod failure;
mod run;
mod session;
mod snapshot;
mod workers;

pub use builds::Invocation;
pub use coordinator::{Farm, FarmConfig};
pub use execution::{Executing, ExecutionService};
pub use failure::Failure;
pub use run::{Outcome, Stage};
pub use snapshot::{Actions, Build, Running, Snapshot, Worker};
