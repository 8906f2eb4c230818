//! The coordinator, with workers that only speak the protocol.

pub(crate) mod fake;
mod lies;
mod platforms;
mod runs;
mod turns;
mod wire;
mod workers;

use std::time::Duration;

use filch_build::farm::FarmConfig;

/// Waits as little as possible.
fn quick() -> FarmConfig {
    FarmConfig {
        remembered: Duration::ZERO,
        abandoned_after: Duration::ZERO,
        pause: Duration::from_millis(1),
        patience: Duration::ZERO,
        ..FarmConfig::default()
    }
}
