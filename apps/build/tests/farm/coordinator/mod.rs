//! The coordinator, with workers that only speak the protocol.

pub(crate) mod fake;
mod lies;
mod runs;
mod wire;
mod workers;

use std::time::Duration;

use filch_build::farm::FarmConfig;

/// Waits as little as possible.
fn quick() -> FarmConfig {
    FarmConfig {
        abandoned_after: Duration::ZERO,
        pause: Duration::from_millis(1),
        patience: Duration::ZERO,
        ..FarmConfig::default()
    }
}
