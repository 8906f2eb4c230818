//! The cache, as clients see it: servers of this process, and clients that speak gRPC and HTTP.

pub(crate) mod byte_stream;
mod compressed;
pub(crate) mod content;
mod disk;
mod ends;
mod full;
mod http;
mod results;
pub(crate) mod shared;
mod speed;
mod tokens;
mod wire;
