//! Gaps in rayon's own tests: the calls of handlers, failed starts, the ways of panics, and hangs.

mod alone;
mod fifo;
mod global;
mod handlers;
mod nested;
mod panics;
mod start;
mod waits;
