#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod cache;
pub mod digest;
pub mod farm;
pub mod graph;
mod options;
pub mod server;
pub mod storage;
pub mod worker;

/// The messages between coordinator and workers: `proto/farm.proto`.
pub mod protocol {
    #![expect(
        missing_docs,
        unused_qualifications,
        clippy::allow_attributes,
        clippy::doc_markdown,
        reason = "it is generated"
    )]
    tonic::include_proto!("filch.build.v1");

    /// The most blobs in one message.
    pub(crate) const MOST_IN_MESSAGE: usize = 1 << 16;
}

/// The messages and the services of the Remote Execution API, version 2.
pub mod reapi {
    use std::time::{SystemTime, UNIX_EPOCH};

    pub use bazel_remote_apis::build::bazel::remote::execution::v2::*;
    use bazel_remote_apis::google::protobuf::Timestamp;

    /// Returns the platform that an action asks for; clients of older versions name it in the
    /// command.
    #[expect(deprecated)]
    pub(crate) fn platform_of<'a>(
        action: &'a Action,
        command: &'a Command,
    ) -> Option<&'a Platform> {
        action.platform.as_ref().or(command.platform.as_ref())
    }

    /// Returns the time of day.
    pub(crate) fn now() -> Option<Timestamp> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(Timestamp {
            seconds: i64::try_from(since.as_secs()).ok()?,
            nanos: i32::try_from(since.subsec_nanos()).ok()?,
        })
    }
}
