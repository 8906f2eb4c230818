//! Where blobs and the results of actions are kept.

mod blobs;
mod error;

pub use blobs::Blobs;
pub use error::StorageError;
