//! The coordinator as a server: one address for gRPC and HTTP, with TLS and tokens if wanted.

mod auth;
mod config;
pub(crate) mod connections;
mod error;
mod metrics;
mod pages;
mod routes;
mod serve;
mod status;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

pub use auth::Tokens;
pub use config::{Certificate, Config};
pub use error::StartError;
pub use serve::{Running, Server};
pub use tls::NotACertificate;
