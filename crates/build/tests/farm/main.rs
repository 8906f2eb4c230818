//! The coordinator, with workers that only speak the protocol.

#[path = "../common/client.rs"]
#[expect(dead_code, reason = "the tests of workers use the rest")]
mod client;
mod fake;
mod lies;
mod runs;
mod workers;

use std::time::Duration;

use client::Client;
use filch_build::farm::FarmConfig;
use filch_build::server::{Config, Running, Server};

/// A coordinator in memory.
async fn start(farm: FarmConfig) -> (Running, Client) {
    let config = Config {
        farm,
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let client = Client::new(server.address()).await;
    (server, client)
}

/// As quick as can be where something is waited for.
fn quick() -> FarmConfig {
    FarmConfig {
        abandoned_after: Duration::ZERO,
        pause: Duration::from_millis(1),
        patience: Duration::ZERO,
        ..FarmConfig::default()
    }
}
