//! State and limits shared by all services of the cache.

use std::sync::Arc;
use std::time::Duration;

use tonic::Status;

use super::uploads::Uploads;
use crate::digest::Digest;
use crate::reapi;
use crate::storage::Storage;

/// The most bytes of blobs in one message. Their digests fit beside them in 4 MiB, which is the
/// default limit of gRPC.
pub const MAX_BATCH: u64 = (4 << 20) - (64 << 10);

/// The most bytes of a message that is received.
pub const MAX_MESSAGE: usize = 8 << 20;

/// The permissions and limits of a cache.
#[derive(Debug, Clone)]
pub struct CacheConfig {
    /// The name of the only instance.
    pub instance: String,
    /// True if clients may store results of actions.
    pub updates: bool,
    /// A client that sends nothing of an upload for this long has given it up.
    pub idle: Duration,
    /// An upload whose connection broke can be resumed for this long.
    pub resumable: Duration,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            instance: String::new(),
            updates: true,
            idle: Duration::from_secs(60),
            resumable: Duration::from_secs(60),
        }
    }
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
        Err(Status::invalid_argument(format!(
            "there is no instance {instance:?} here, but {:?}",
            self.shared.config.instance
        )))
    }

    /// Refuses any instance but the only one, and any hash function but SHA-256.
    pub(crate) fn check(&self, instance: &str, digest_function: i32) -> Result<(), Status> {
        self.check_instance(instance)?;
        match reapi::digest_function::Value::try_from(digest_function) {
            Ok(reapi::digest_function::Value::Unknown | reapi::digest_function::Value::Sha256) => {
                Ok(())
            }
            _ => Err(Status::invalid_argument(
                "digests are of SHA-256 here, and of nothing else",
            )),
        }
    }
}

/// Reads the digest in a message.
pub(crate) fn digest(digest: Option<&reapi::Digest>, what: &str) -> Result<Digest, Status> {
    let digest = digest
        .ok_or_else(|| Status::invalid_argument(format!("the digest of {what} is missing")))?;
    Digest::try_from(digest)
        .map_err(|error| Status::invalid_argument(format!("the digest of {what}: {error}")))
}
