//! The farm over the network: its cache, its coordinator with workers that only speak the protocol
//! and with real ones, and clients and storages of others, which `.ci/clients` installs. A test
//! whose program is missing says so on the terminal, and passes.

mod cache;
mod client;
mod conformance;
mod coordinator;
mod foreign;
mod installed;
mod leaver;
mod messages;
mod program;
mod server;
mod workers;
