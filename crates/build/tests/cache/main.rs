//! The cache, as clients see it: a server of this process, and clients that speak gRPC and HTTP.

mod byte_stream;
mod content;
mod disk;
mod ends;
mod http;
mod redis;
mod results;
mod server;
mod tokens;
mod wire;
