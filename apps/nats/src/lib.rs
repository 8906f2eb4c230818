#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod builder;
mod codec;
mod counters;
mod linking;
mod lost;
mod nats;
mod outbox;
mod outgoing;
mod peer;
mod peers;
mod remote_monitor;
mod report;
mod wire;

/// The client of NATS, whose options [`Builder::options`] takes.
pub use async_nats;
pub use builder::{Builder, StartError};
pub use codec::Codec;
#[cfg(feature = "postcard")]
pub use codec::Postcard;
pub use counters::{NodeStats, Stats};
pub use lost::Life;
pub use lost::{ConnectError, Ended, NodeLost};
pub use nats::Nats;
pub use remote_monitor::RemoteMonitor;
pub use report::Incident;
pub use wire::Garbage;
