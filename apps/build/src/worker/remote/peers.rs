//! The connections to other workers, and the key that workers show each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use filch_sync::lock;
use subtle::ConstantTimeEq as _;
use tonic::metadata::MetadataValue;
use tonic::transport::ClientTlsConfig;
use tonic::{Request, Status};

use super::channel::{Authorized, channel};

/// The connections to other workers, and the key for them. Clones share both.
#[derive(Debug, Clone)]
pub(super) struct Peers {
    /// The certificates of theirs that are trusted.
    trust: ClientTlsConfig,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The coordinator's key; empty before it has sent it.
    key: String,
    channels: HashMap<String, Authorized>,
}

/// The most connections that are kept.
const MOST: usize = 256;

impl Peers {
    pub(super) fn new(trust: ClientTlsConfig) -> Self {
        Self {
            trust,
            shared: Arc::default(),
        }
    }

    /// Sets the key that workers show each other from now on.
    pub(super) fn set_key(&self, key: String) {
        let mut shared = lock(&self.shared);
        if shared.key != key {
            *shared = Shared {
                key,
                channels: HashMap::new(),
            };
        }
    }

    pub(super) fn channel(&self, address: &str) -> Result<Authorized, String> {
        let mut shared = lock(&self.shared);
        if let Some(channel) = shared.channels.get(address) {
            return Ok(channel.clone());
        }
        if shared.channels.len() == MOST {
            shared.channels.clear();
        }
        let channel = channel(address, Some(&shared.key), &self.trust)?;
        shared.channels.insert(address.to_owned(), channel.clone());
        Ok(channel)
    }

    /// Checks that the request comes from another worker.
    pub(super) fn check<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let shared = lock(&self.shared);
        let sent = request.metadata().get("authorization");
        let sent = sent.map(MetadataValue::as_bytes).unwrap_or_default();
        let wanted = format!("Bearer {}", shared.key);
        if shared.key.is_empty() || !bool::from(sent.ct_eq(wanted.as_bytes())) {
            return Err(Status::unauthenticated(
                "only workers of the same coordinator may read",
            ));
        }
        Ok(())
    }
}
