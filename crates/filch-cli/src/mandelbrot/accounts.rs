//! The work of each worker for a picture.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The accounts of all workers, by their index.
#[derive(Debug)]
pub(super) struct Accounts(Box<[Account]>);

/// The account of one worker, which alone writes to it, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Account {
    tiles: AtomicU64,
    stolen: AtomicU64,
    busy_nanoseconds: AtomicU64,
}

/// The work of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// Tiles that it drew.
    pub(super) tiles: u64,
    /// Jobs that it ran and another worker had forked.
    pub(super) stolen: u64,
    /// The time that it spent in tiles.
    pub(super) busy: Duration,
}

impl Accounts {
    pub(super) fn of(workers: usize) -> Self {
        Self((0..workers).map(|_| Account::default()).collect())
    }

    /// Adds a tile of the worker, which took that time.
    pub(super) fn add_tile(&self, worker: usize, time: Duration) {
        let account = &self.0[worker];
        // ORDERING: Relaxed, here and in `add_stolen`: sums that are read when the picture is done,
        // which comes after all jobs.
        account.tiles.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = time.as_nanos() as u64;
        account
            .busy_nanoseconds
            .fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Counts a job of another worker.
    pub(super) fn add_stolen(&self, worker: usize) {
        // ORDERING: Relaxed: see `add_tile`.
        self.0[worker].stolen.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the totals, by the workers' index.
    pub(super) fn shares(self) -> Vec<Share> {
        let share = |account: Account| Share {
            tiles: account.tiles.into_inner(),
            stolen: account.stolen.into_inner(),
            busy: Duration::from_nanos(account.busy_nanoseconds.into_inner()),
        };
        self.0.into_iter().map(share).collect()
    }
}
