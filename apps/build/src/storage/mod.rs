//! The storage of blobs and of the results of actions.
//!
//! [`Blobs`] are named by their content, [`Results`] by the action that led to them. [`Location`]
//! says where both are: on a disk of this machine, or in a storage that several coordinators share.
//! The disk is read and written directly, everything else through `opendal`.

mod blobs;
mod disk;
mod held;
mod index;
mod learn;
mod location;
mod name;
mod new_file;
mod reader;
mod results;
mod room;
mod store;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use store::{Place, Store, blocking};
use tokio::time::timeout;

use crate::options::{defaults, size};
pub use blobs::{Blobs, Range};
pub(crate) use disk::make_folder;
pub(crate) use index::Change;
pub use location::{Location, NotALocation};
pub use new_file::NewFile;
pub use reader::Reader;
pub use results::{MAX_RESULT, NotAResult, Results, StoredResult};
pub(crate) use room::is_full;
pub use store::{Counters, StorageError};
pub use writer::{Expected, Writer};

/// The time in which a storage has to answer at all: enough for a few tries to reach it, of which
/// the last reports the cause.
const PATIENCE: Duration = Duration::from_secs(10);

/// The blobs and results of one place. Clones are handles of the same storage.
#[derive(Debug, Clone)]
pub struct Storage {
    /// The blobs.
    pub blobs: Blobs,
    /// The results of actions.
    pub results: Results,
}

/// The limits of a storage.
#[derive(Debug, Clone, Copy, Args)]
pub struct Limits {
    /// The largest size of a blob
    #[arg(long = "blob-limit", value_name = "SIZE", default_value = "4G", value_parser = size)]
    pub blob: u64,
    /// The most that the storage may take of a disk, as 500M or 10G; beyond that, it forgets what
    /// was not used for the longest time
    #[arg(long = "storage-limit", value_name = "SIZE", default_value = "10G", value_parser = size)]
    pub disk: u64,
    /// The space that stays free on that disk: the storage forgets before there is less, and takes
    /// nothing if that does not help
    #[arg(long = "disk-reserve", value_name = "SIZE", default_value = "256M", value_parser = size)]
    pub reserve: u64,
}

impl Default for Limits {
    fn default() -> Self {
        defaults()
    }
}

impl Storage {
    /// Opens a storage, and checks that it answers.
    ///
    /// # Errors
    /// If it does not, or if another process uses the folder.
    pub async fn open(location: &Location, limits: Limits) -> Result<Self, StorageError> {
        let mut limit = limits.blob.min(location.limit());
        let store = match location {
            Location::Memory => Store::in_memory(),
            Location::Disk(path) => {
                // A blob may take the whole disk limit.
                limit = limit.min(limits.disk / index::BLOCK * index::BLOCK);
                let path = path.clone();
                let open = move || Ok(disk::Disk::open(&path, limits.disk, limits.reserve)?);
                Store::new(Place::Disk(Arc::new(blocking(open).await?)))
            }
            Location::Redis(url) => Store::new(Place::Shared(location::redis(url)?)),
            Location::S3(url) => Store::new(Place::Shared(location::s3(url)?)),
        };
        match timeout(PATIENCE, store.answers()).await {
            Ok(answer) => answer?,
            Err(_) => {
                let what = format!("no answer within {PATIENCE:?}");
                return Err(opendal::Error::new(opendal::ErrorKind::Unexpected, what).into());
            }
        };
        Ok(Self::new(store, limit))
    }

    /// Keeps everything in memory, without a limit.
    pub fn in_memory() -> Self {
        Self::new(Store::in_memory(), u64::MAX)
    }

    fn new(store: Store, limit: u64) -> Self {
        let blobs = Blobs::new(store, limit);
        let results = Results::new(blobs.clone());
        Self { blobs, results }
    }

    /// Returns its counters.
    pub fn counters(&self) -> &Counters {
        &self.blobs.store.counters
    }

    /// Returns the number and the space of entries, as far as they are known yet; `None` if the
    /// storage is shared.
    pub fn usage(&self) -> Option<Usage> {
        match &self.blobs.store.place {
            Place::Disk(disk) => {
                let (entries, bytes) = disk.usage();
                Some(Usage { entries, bytes })
            }
            Place::Shared(_) => None,
        }
    }
}

/// The space that a storage uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The number of blobs and results.
    pub entries: usize,
    /// The bytes that they take of the disk.
    pub bytes: u64,
}
