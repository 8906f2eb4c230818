//! The cache, as clients see it: servers of this process, and clients that speak gRPC and HTTP.

mod byte_stream;
mod content;
mod disk;
mod encrypted;
mod ends;
mod http;
mod redis;
mod results;
mod s3;
mod separate;
mod shared;
mod speed;
mod tokens;
mod wire;
