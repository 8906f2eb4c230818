//! All tests under random schedules, in one program: several would build most of their code again.
#![cfg(shuttle)]

mod build_scheduler;
mod engine;
mod fork_join;
mod processors;
mod scheduler;
