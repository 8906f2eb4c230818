//! The farm with clients written by others.

mod bazel;
mod c_program;
mod cache;
mod execution;
mod farm;
mod moon;
pub(crate) mod nginx;
mod status_page;
mod token;
