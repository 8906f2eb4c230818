//! The result of every command.

use std::error::Error;

/// An error is one that stopped the command, not a test that failed.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
