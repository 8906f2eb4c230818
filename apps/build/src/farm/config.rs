//! The settings of a farm.

use std::time::Duration;

use clap::Args;

use crate::options::{defaults, milliseconds, size};

/// The settings of a farm.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct FarmConfig {
    /// A property of the workers' platform, as `OSFamily=linux`; an action that asks for another
    /// one is refused
    #[arg(long, value_name = "NAME=VALUE", value_parser = property)]
    pub platform: Vec<(String, String)>,
    /// A worker that sends nothing for this long is taken for dead.
    #[arg(skip = Duration::from_secs(10))]
    pub silence: Duration,
    /// An action that nobody has waited for, for this long, is cancelled: until then, a client that
    /// lost its connection can come back.
    #[arg(skip = Duration::from_secs(5))]
    pub abandoned_after: Duration,
    /// A worker that could not run an action gets none for this long.
    #[arg(skip = Duration::from_secs(1))]
    pub pause: Duration,
    /// The milliseconds for which an action waits for a worker that has its larger inputs
    #[arg(long, value_name = "MILLISECONDS", default_value = "50", value_parser = milliseconds)]
    pub patience: Duration,
    /// An input of this size makes a worker that has it worth waiting for
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    pub near_size: u64,
}

impl Default for FarmConfig {
    fn default() -> Self {
        defaults()
    }
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not NAME=VALUE".into()),
    }
}
