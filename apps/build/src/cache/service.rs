//! State and limits shared by all services of the cache, and the two small ones: the results of
//! actions, and the capabilities that clients may ask for.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Args};
use tokio::time::timeout;
use tonic::{Request, Response, Status};

use super::byte_stream::Uploads;
use super::status::invalid;
use crate::digest::{Digest, hex};
use crate::options::defaults;
use crate::reapi;
use crate::reapi::action_cache_server::ActionCache;
use crate::reapi::capabilities_server::Capabilities;
use crate::reapi::digest_function::Value::Sha256;
use crate::reapi::{
    ActionCacheUpdateCapabilities, ActionResult, CacheCapabilities, ExecutionCapabilities,
    GetActionResultRequest, GetCapabilitiesRequest, PriorityCapabilities, ServerCapabilities,
    UpdateActionResultRequest, compressor, priority_capabilities, symlink_absolute_path_strategy,
};
use crate::storage::{Storage, StoredResult};

/// The most bytes of blobs in one message. In an answer, the digests and states of 12 000 of them
/// fit beside them.
pub const MAX_BATCH: u64 = 3 << 20;

/// The most bytes of an answer about blobs: gRPC's usual limit, which clients have.
pub(super) const MAX_ANSWER: usize = 4 << 20;

/// The most bytes of a message that is received.
pub const MAX_MESSAGE: usize = 8 << 20;

/// The priorities that an action may have; a lower one goes first.
pub(crate) const PRIORITIES: RangeInclusive<i32> = -1000..=1000;

/// The permissions and limits of a cache.
#[derive(Debug, Clone, Args)]
pub struct CacheConfig {
    /// The name of the only instance
    #[arg(long, value_name = "NAME", default_value = "", value_parser = instance)]
    pub instance: String,
    /// Let no client store results of actions: only what workers have run is in the cache
    #[arg(long = "no-updates", action = ArgAction::SetFalse)]
    pub updates: bool,
    /// A client that sends nothing of an upload for this long has given it up.
    #[arg(skip = Duration::from_secs(60))]
    pub idle: Duration,
    /// An upload whose connection broke can be resumed for this long.
    #[arg(skip = Duration::from_secs(60))]
    pub resumable: Duration,
}

impl Default for CacheConfig {
    fn default() -> Self {
        defaults()
    }
}

/// Checks an instance's name: the protocol reserves the keywords of resource names.
fn instance(text: &str) -> Result<String, String> {
    let keywords =
        "blobs uploads actions actionResults operations capabilities compressed-blobs ..";
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_part = |part: &str| {
        let is_keyword = keywords.split(' ').any(|keyword| keyword == part);
        !part.is_empty() && part.bytes().all(good) && !is_keyword
    };
    if text.is_empty() || text.split('/').all(is_part) {
        return Ok(text.to_owned());
    }
    let right = "letters, digits, - _ . and / between parts";
    Err(format!("{right}, none of which is a word of the protocol"))
}

/// The services of a cache. Clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    storage: Storage,
    config: CacheConfig,
    uploads: Uploads,
}

impl Cache {
    /// Makes a cache over that storage.
    pub fn new(storage: Storage, config: CacheConfig) -> Self {
        let uploads = Uploads::new(config.resumable);
        Self {
            shared: Arc::new(Shared {
                storage,
                config,
                uploads,
            }),
        }
    }

    /// The storage.
    pub fn storage(&self) -> &Storage {
        &self.shared.storage
    }

    pub(super) fn config(&self) -> &CacheConfig {
        &self.shared.config
    }

    pub(super) fn uploads(&self) -> &Uploads {
        &self.shared.uploads
    }

    /// Refuses any instance but the only one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`: `NOT_FOUND` would be a miss to some clients, and so never be noticed.
    pub fn check_instance(&self, instance: &str) -> Result<(), Status> {
        if instance == self.shared.config.instance {
            return Ok(());
        }
        let own = &self.shared.config.instance;
        Err(invalid(format_args!(
            "there is no instance {instance:?} here, but {own:?}"
        )))
    }

    /// Refuses any instance but the only one, and any hash function but SHA-256.
    pub(crate) fn check(&self, instance: &str, digest_function: i32) -> Result<(), Status> {
        self.check_instance(instance)?;
        use reapi::digest_function::Value;
        match Value::try_from(digest_function) {
            Ok(Value::Unknown | Sha256) => Ok(()),
            _ => Err(invalid("digests are of SHA-256 here, and of nothing else")),
        }
    }

    /// Refuses results of actions if clients may not store any.
    pub(super) fn check_update(&self) -> Result<(), Status> {
        if self.shared.config.updates {
            return Ok(());
        }
        let why = "clients may not store results of actions here";
        Err(Status::permission_denied(why))
    }

    /// Returns the result of that action.
    pub(super) async fn result(&self, action: &[u8; 32]) -> Result<StoredResult, Status> {
        let result = self.storage().results.get(action).await?;
        result.ok_or_else(|| {
            let action = hex(action);
            let what = "there is no result of the action";
            Status::not_found(format!("{what} {action}, or not all of its blobs"))
        })
    }

    /// Waits for more of an upload, but not for ever.
    pub(super) async fn in_time<T>(&self, more: impl Future<Output = T>) -> Result<T, Status> {
        let idle = self.shared.config.idle;
        let silent =
            |_| Status::deadline_exceeded(format!("nothing of the upload came for {idle:?}"));
        timeout(idle, more).await.map_err(silent)
    }
}

/// Reads the digest in a message.
pub(crate) fn digest(digest: Option<&reapi::Digest>, what: &str) -> Result<Digest, Status> {
    Digest::of_field(digest, what).map_err(invalid)
}

#[tonic::async_trait]
impl ActionCache for Cache {
    async fn get_action_result(
        &self,
        request: Request<GetActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        let action = digest(request.action_digest.as_ref(), "the action")?;
        let result = self.result(action.hash()).await?;
        Ok(Response::new(result.into_message()))
    }

    async fn update_action_result(
        &self,
        request: Request<UpdateActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        self.check_update()?;
        let action = digest(request.action_digest.as_ref(), "the action")?;
        let message = request.action_result;
        let message = message.ok_or_else(|| invalid("the result is missing"))?;
        let result = StoredResult::try_from(&message).map_err(invalid)?;
        self.storage().results.put(action.hash(), result).await?;
        Ok(Response::new(message))
    }
}

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
                supported_compressors: vec![compressor::Value::Zstd.into()],
                // No split blobs.
                ..Default::default()
            }),
            execution_capabilities: Some(ExecutionCapabilities {
                digest_function: Sha256.into(),
                digest_functions: vec![Sha256.into()],
                exec_enabled: true,
                execution_priority_capabilities: Some(PriorityCapabilities {
                    priorities: vec![priority_capabilities::PriorityRange {
                        min_priority: *PRIORITIES.start(),
                        max_priority: *PRIORITIES.end(),
                    }],
                }),
                ..Default::default()
            }),
            low_api_version: Some(version(0)),
            high_api_version: Some(version(3)),
            ..Default::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::instance;

    #[test]
    fn an_instance_is_no_keyword() {
        assert!(instance("").is_ok() && instance("a/b.c").is_ok());
        for text in ["/", "a/", "blobs", "a/uploads", "..", "a b", "{x}"] {
            assert!(instance(text).is_err(), "{text}");
        }
    }
}
