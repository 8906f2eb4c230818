//! The farm with clients written by others. `.ci/clients` installs them; a test whose client is
//! missing says so on the terminal, and passes.

mod bazel;
mod c_program;
mod cache;
#[path = "../common/cpu.rs"]
mod cpu;
mod execution;
mod farm;
#[path = "../common/installed.rs"]
mod installed;
mod moon;
mod nginx;
#[path = "../common/servers.rs"]
mod servers;
mod speed;
mod status_page;
mod token;
mod unchanged;
