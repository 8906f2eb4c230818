//! The capabilities that clients may ask for: those of the cache, and of execution.

use tonic::{Request, Response, Status};

use super::service::{Cache, MAX_BATCH};
use crate::reapi::capabilities_server::Capabilities;
use crate::reapi::digest_function::Value::Sha256;
use crate::reapi::{
    ActionCacheUpdateCapabilities, CacheCapabilities, ExecutionCapabilities,
    GetCapabilitiesRequest, PriorityCapabilities, ServerCapabilities,
    symlink_absolute_path_strategy,
};

#[tonic::async_trait]
impl Capabilities for Cache {
    async fn get_capabilities(
        &self,
        request: Request<GetCapabilitiesRequest>,
    ) -> Result<Response<ServerCapabilities>, Status> {
        self.check_instance(&request.into_inner().instance_name)?;
        let limit = self.storage().blobs.limit();
        let version = |minor| bazel_remote_apis::build::bazel::semver::SemVer {
            major: 2,
            minor,
            ..Default::default()
        };
        Ok(Response::new(ServerCapabilities {
            cache_capabilities: Some(CacheCapabilities {
                digest_functions: vec![Sha256.into()],
                action_cache_update_capabilities: Some(ActionCacheUpdateCapabilities {
                    update_enabled: self.config().updates,
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
            execution_capabilities: Some(ExecutionCapabilities {
                digest_function: Sha256.into(),
                digest_functions: vec![Sha256.into()],
                exec_enabled: true,
                ..Default::default()
            }),
            low_api_version: Some(version(0)),
            high_api_version: Some(version(3)),
            ..Default::default()
        }))
    }
}
