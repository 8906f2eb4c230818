//! Nodes that talk over a real server of NATS, which `.ci/clients` installs. Without it, a test
//! says so on the terminal, and passes.

mod another_life;
mod chat;
mod common;
mod connecting;
mod failures;
mod garbage;
mod killed;
mod messages;
mod monitors;
mod other_program;
mod refusals;
mod server;
mod shutdown;
mod small_packets;
mod speed;
