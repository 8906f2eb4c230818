//! The coordinator as a server: one address for gRPC and HTTP, with TLS and tokens if wanted.

mod auth;
mod config;
pub(crate) mod connections;
mod metrics;
mod routes;
mod serve;
mod status;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

pub use auth::Tokens;
pub use config::{Certificate, Config};
pub use serve::{Running, Server, StartError};
pub use tls::NotACertificate;
