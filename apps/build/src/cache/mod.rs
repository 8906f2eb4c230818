//! The cache that clients see: the services of the Remote Execution API over a [`Storage`], and the
//! simple HTTP cache of Bazel and others.
//!
//! [`Storage`]: crate::storage::Storage

mod byte_stream;
mod content;
mod files;
mod http;
mod resource_name;
mod service;
mod status;
mod zstd;

pub use http::router;
pub use resource_name::{NotAResource, ResourceName};
pub use service::{Cache, CacheConfig, MAX_BATCH, MAX_MESSAGE};
pub(crate) use service::{PRIORITIES, digest};
pub(crate) use status::Refusal;
