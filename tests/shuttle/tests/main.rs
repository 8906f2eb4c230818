//! All of them in one program: most of its build is code that each of several would have again.
#![cfg(shuttle)]

mod build_scheduler;
mod engine;
mod fork_join;
mod processors;
mod scheduler;
