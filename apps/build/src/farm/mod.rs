//! The coordinator: it gives actions to workers, and their results to clients.
//!
//! [`Farm`] wraps a [`Scheduler`](filch_build_scheduler::Scheduler) for each platform of workers.
//! Jobs are actions, artifacts are blobs. Clients use [`ExecutionService`]; workers call the farm
//! itself.
//!
//! ```text
//! Execute ──► Farm::execute ──► queue ──► Scheduler ──► session ──► worker
//!    ▲                                        ▲            │
//!    └──────── the result, or why none ───────┴────────────┘
//! ```

mod action;
mod builds;
mod coordinator;
mod course;
mod execution;
mod failure;
mod platform;
mod pools;
mod queue;
mod reports;
mod run;
mod session;
mod snapshot;
mod workers;

pub use builds::{Invocation, Times};
pub use coordinator::{Farm, FarmConfig};
pub use execution::{Executing, ExecutionService};
pub use failure::Failure;
pub use filch_build_scheduler::{Platform, Properties};
pub use run::{Outcome, Stage};
pub use snapshot::{Actions, Build, Failed, Lost, Running, Snapshot, Worker};
