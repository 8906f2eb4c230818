//! The cache, as clients see it: a server of this process, and clients that speak gRPC and HTTP.

mod byte_stream;
mod content;
mod coordinator;
mod disk;
mod encrypted;
mod ends;
mod http;
#[path = "../common/installed.rs"]
#[expect(dead_code, reason = "the tests with other clients use the rest")]
mod installed;
#[path = "../common/messages.rs"]
mod messages;
mod redis;
mod results;
mod s3;
mod server;
#[path = "../common/servers.rs"]
#[expect(dead_code, reason = "the tests with other clients use the rest")]
mod servers;
mod shared;
mod tokens;
mod wire;
