//! Nodes that talk over a real server of NATS, which `.ci/clients` installs. Without it, a test
//! says so on the terminal, and passes.

mod chat;
mod common;
mod connecting;
mod failures;
mod killed;
mod messages;
mod monitors;
mod other_program;
mod refusals;
mod server;
mod speed;
