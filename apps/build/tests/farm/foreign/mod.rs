//! The farm with programs of others: clients, and servers that store what it has.

mod bazel;
mod c_program;
mod cache;
mod encrypted_storage;
mod execution;
mod farm;
mod moon;
pub(crate) mod nginx;
mod redis;
mod s3;
mod status_page;
mod token;
