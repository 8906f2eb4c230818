//! The farm: workers, and the actions that they run.

mod snapshot;

pub use snapshot::{Actions, Build, Running, Snapshot, Worker};
