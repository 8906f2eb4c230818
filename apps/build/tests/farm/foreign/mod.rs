//! The farm with programs of others: clients, and servers that store what it has.

mod bazel;
mod buildstream;
mod c_program;
mod encrypted_storage;
mod farm;
mod files;
mod moon;
mod redis;
mod s3;
mod status_page;
