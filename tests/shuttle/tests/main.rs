//! All tests under random schedules, in one program: several would build most of their code again.
//! The matrix runs on the system's threads, too.

#[cfg(shuttle)]
mod build_scheduler;
#[cfg(shuttle)]
mod engine;
#[cfg(shuttle)]
mod fork_join;
mod matrix;
#[cfg(shuttle)]
mod processors;
#[cfg(shuttle)]
mod scheduler;
