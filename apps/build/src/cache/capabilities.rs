//! The capabilities that clients may ask for.

use tonic::{Request, Response, Status};

use super::service::{Cache, MAX_BATCH};
use crate::reapi::capabilities_server::Capabilities;
use crate::reapi::{
    ActionCacheUpdateCapabilities, CacheCapabilities, ExecutionCapabilities,
    GetCapabilitiesRequest, PriorityCapabilities, ServerCapabilities, digest_function,
    symlink_absolute_path_strategy,
};

/// Answers with what the cache can do, and what execution can, if there is any.
#[derive(Debug, Clone)]
pub struct Offer {
    cache: Cache,
    execution: Option<ExecutionCapabilities>,
}

impl Offer {
    /// Offers a cache, with execution or without.
    pub const fn new(cache: Cache, execution: Option<ExecutionCapabilities>) -> Self {
        Self { cache, execution }
    }
}

#[tonic::async_trait]
impl Capabilities for Offer {
    async fn get_capabilities(
        &self,
        request: Request<GetCapabilitiesRequest>,
    ) -> Result<Response<ServerCapabilities>, Status> {
        self.cache
            .check_instance(&request.into_inner().instance_name)?;
        let limit = self.cache.storage().blobs.limit();
        let version = |minor| bazel_remote_apis::build::bazel::semver::SemVer {
            major: 2,
            minor,
            ..Default::default()
        };
        Ok(Response::new(ServerCapabilities {
            cache_capabilities: Some(CacheCapabilities {
                digest_functions: vec![digest_function::Value::Sha256.into()],
                action_cache_update_capabilities: Some(ActionCacheUpdateCapabilities {
                    update_enabled: self.cache.config().updates,
                }),
                // No priorities.
                cache_priority_capabilities: Some(PriorityCapabilities::default()),
                max_batch_total_size_bytes: i64::try_from(MAX_BATCH).unwrap_or(i64::MAX),
                symlink_absolute_path_strategy: symlink_absolute_path_strategy::Value::Disallowed
                    .into(),
                // 0: no known limit.
                max_cas_blob_size_bytes: i64::try_from(limit).unwrap_or(0),
                // Neither compressed nor split blobs.
                ..Default::default()
            }),
            execution_capabilities: self.execution.clone(),
            low_api_version: Some(version(0)),
            high_api_version: Some(version(3)),
            ..Default::default()
        }))
    }
}
