//! A build without a checker: a test runs on real threads.

use std::iter::repeat_n;

use filch_sync::panic::catch_panic;

use crate::seed::Seed;

pub use std::sync::{RwLock, mpsc};

/// The most runs of a test, whatever number of schedules it asks for.
const MOST_RUNS: usize = 20;

/// Returns an entry for each run: none has a seed.
pub(crate) fn seeds(_first: u64, schedules: usize) -> impl Iterator<Item = Option<Seed>> {
    repeat_n(None, schedules.min(MOST_RUNS))
}

/// Runs the test. Its steps have no bound.
///
/// # Errors
/// The message of its panic.
pub(crate) fn run(
    _seed: Option<Seed>,
    _steps: usize,
    test: &std::sync::Arc<impl Fn() + Send + Sync + 'static>,
) -> Result<(), String> {
    catch_panic(|| test())
}
